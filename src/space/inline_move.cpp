#include "space/inline_move.h"

#include <vector>

namespace anderson2021 {

namespace {

bool is_inlined_somewhere(const LoopNest &nest, int func) {
    if (!nest.computes(func)) {
        return false;
    }
    if (nest.num_inlined_calls(func) > 0) {
        return true;
    }
    for (const LoopNestPtr &child : nest.children) {
        if (is_inlined_somewhere(*child, func)) {
            return true;
        }
    }
    return false;
}

// Funcs with loops of their own that read `func`, directly or through inlined Funcs.
int count_readers_with_loops(const PipelineGraph &graph, const LoopNest &root, int func) {
    BitSet seen(graph.num_funcs());
    std::vector<int> pending = {func};
    int readers = 0;
    while (!pending.empty()) {
        const int current = pending.back();
        pending.pop_back();
        for (const int e : graph.func(current).outgoing_edges) {
            const int reader = graph.edge(e).consumer_func;
            if (seen.contains(reader)) {
                continue;
            }
            seen.insert(reader);
            if (is_inlined_somewhere(root, reader)) {
                pending.push_back(reader);
            } else {
                readers++;
            }
        }
    }
    return readers;
}

}  // namespace

bool can_inline(const FuncNode &func) {
    // Halide inlines no Func with specializations.
    return func.num_stages() == 1 && !func.is_input && !func.needs_root() &&
           func.stages[0].specialized.empty() && !func.stages[0].ends_in_failure;
}

bool is_inlined_eagerly(const FuncNode &func) {
    return func.is_pointwise && func.outgoing_edges.size() == 1;
}

bool inlining_dominates(const PipelineGraph &graph, const FuncNode &func) {
    if (!is_inlined_eagerly(func)) {
        return false;
    }
    const FuncNode &reader = graph.func(graph.edge(func.outgoing_edges[0]).consumer_func);
    if (!reader.is_pointwise && !reader.is_boundary_condition) {
        return false;
    }
    for (const StageNode &stage : func.stages) {
        for (const int e : stage.incoming_edges) {
            if (!graph.func(graph.edge(e).producer).is_pointwise) {
                return false;
            }
        }
    }
    return true;
}

bool is_always_considered_for_inlining(const PipelineGraph &graph,
                                       const LoopNest &root,
                                       const FuncNode &func) {
    if (func.is_output || func.num_stages() != 1) {
        return false;
    }
    return func.is_trivial_to_inline ||
           (func.is_pointwise && count_readers_with_loops(graph, root, func.id) == 1);
}

}  // namespace anderson2021
