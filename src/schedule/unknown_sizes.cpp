#include "schedule/unknown_sizes.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

namespace {

// How much larger than planned an array of variable size may turn out: twice the size in two
// dimensions.
constexpr int64_t kGrowth = 4;

bool is_free_of_estimates(const LoopDim &loop) {
    switch (loop.source) {
    case LoopDim::Source::ComputedDim:
        return true;
    case LoopDim::Source::Constant:
        return loop.constant_span.exact;
    case LoopDim::Source::Expression:
        return loop.min_expr.exact && loop.max_expr.exact;
    }
    return false;
}

bool is_free_of_estimates(const Edge &edge) {
    return std::all_of(edge.bounds.begin(), edge.bounds.end(), [](const EdgeBound &b) {
        return b.min.exact && b.max.exact;
    });
}

bool is_free_of_estimates(const ComputedDim &dim) {
    return dim.kind != ComputedDim::Kind::Expression || (dim.min_expr.exact && dim.max_expr.exact);
}

template<typename T>
bool all_free_of_estimates(const std::vector<T> &items) {
    return std::all_of(
        items.begin(), items.end(), [](const T &item) { return is_free_of_estimates(item); });
}

/// Without pure loops everything in a task runs in a single thread.
bool is_single_thread(const PipelineGraph &graph, const LoopNest &task) {
    const std::vector<LoopDim> &loops = graph.stage(task.stage_id).loops;
    return std::all_of(loops.begin(), loops.end(), [](const LoopDim &d) { return d.rvar; });
}

class TaskWalk {
public:
    TaskWalk(const PipelineGraph &graph, const GpuDevice &device, const BitSet &following_outputs)
        : graph_(graph), device_(device), following_outputs_(following_outputs) {}

    std::vector<MisplacedFunc> run(const LoopNest &task) {
        visit(task, is_single_thread(graph_, task));
        for (const auto &[func, bytes] : variable_) {
            const int64_t needed = shared_bytes_ + (kGrowth - 1) * bytes;
            if (needed > device_.shared_bytes_per_block) {
                misplaced_.push_back({func, needed, device_.shared_bytes_per_block});
            }
        }
        return std::move(misplaced_);
    }

private:
    void visit(const LoopNest &nest, bool in_thread) {
        in_thread = in_thread || nest.axis == GpuAxis::Thread;
        for (const int f : nest.store_set()) {
            add(f, nest, in_thread);
        }
        for (const LoopNestPtr &c : nest.children) {
            if (!c->innermost && !c->stored_below().empty()) {
                visit(*c, in_thread);
            }
        }
    }

    void add(int func, const LoopNest &site, bool in_thread) {
        const bool exact = has_exact_size(graph_.func(func), site);
        const int64_t bytes = site.regions->of(func).bytes_computed();
        if (in_thread) {
            if (!exact) {
                misplaced_.push_back({func, bytes, 0});
            }
            return;
        }
        shared_bytes_ += bytes;
        if (!exact && !following_outputs_.contains(func)) {
            variable_.emplace_back(func, bytes);
        }
    }

    const PipelineGraph &graph_;
    const GpuDevice &device_;
    const BitSet &following_outputs_;
    std::vector<MisplacedFunc> misplaced_;
    // In shared memory: bytes of all Funcs, and the Funcs whose size may vary.
    int64_t shared_bytes_ = 0;
    std::vector<std::pair<int, int64_t>> variable_;
};

}  // namespace

BitSet find_funcs_following_outputs(const PipelineGraph &graph) {
    BitSet found(graph.num_funcs());
    // Consumers come first.
    for (const FuncNode &f : graph.funcs) {
        bool follows = all_free_of_estimates(f.computed);
        for (const StageNode &s : f.stages) {
            follows = follows && all_free_of_estimates(s.loops);
        }
        for (const int e : f.outgoing_edges) {
            const Edge &edge = graph.edge(e);
            follows = follows && is_free_of_estimates(edge) && found.contains(edge.consumer_func);
        }
        if (follows) {
            found.insert(f.id);
        }
    }
    return found;
}

bool has_exact_size(const FuncNode &func, const LoopNest &site) {
    const FuncRegion &region = site.regions->of(func.id);
    for (int d = 0; d < func.dims(); d++) {
        if (!region.computed(d).exact) {
            return false;
        }
    }
    return true;
}

std::vector<MisplacedFunc> find_misplaced_funcs(const LoopNest &task,
                                                const PipelineGraph &graph,
                                                const GpuDevice &device,
                                                const BitSet &following_outputs) {
    return TaskWalk(graph, device, following_outputs).run(task);
}

}  // namespace anderson2021
