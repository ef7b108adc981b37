#include "lowering/staging.h"

#include <algorithm>
#include <utility>

#include "lowering/loop_splits.h"

namespace anderson2021 {

namespace {

/// Levels of serial loops that other stages have inside `nest`, along the deepest path.
int serial_levels_inside(const LoopNest &nest) {
    int levels = 0;
    for (const LoopNestPtr &c : nest.children) {
        if (c->stage_id == nest.stage_id) {
            continue;
        }
        const bool loops =
            std::any_of(c->size.begin(), c->size.end(), [](int64_t s) { return s > 1; });
        levels += (loops ? 1 : 0) + serial_levels_inside(*c);
    }
    return levels;
}

int64_t unrolled_points(const StagePlan &plan) {
    int64_t points = 1;
    for (const LoopVar &v : plan.levels.back().vars) {
        points *= v.trips;
    }
    return points;
}

bool is_read_by_another_stage(const StagePlan &plan, const PipelineGraph &graph, int producer) {
    for (const int e : graph.func(producer).outgoing_edges) {
        const Edge &edge = graph.edge(e);
        if (edge.consumer_func == plan.func->id && edge.consumer_stage != plan.stage->id) {
            return true;
        }
    }
    return false;
}

/// The loop variable of a dimension in the pure stage, whatever the order of the loops.
std::optional<VarRef> pure_var(const FuncNode &func, int dim) {
    for (const LoopDim &loop : func.stages[0].loops) {
        if (loop.pure_dim == dim) {
            return VarRef{loop.var, false, loop.dims_index};
        }
    }
    return std::nullopt;
}

/// Loops over the box of one thread: each is split by its extent so that the copy unrolls even if
/// the box is cut off at the border. The surplus points are read, but never used.
std::optional<StagedProducer> make_staged(const StagePlan &plan,
                                          const FuncNode &producer,
                                          const FuncRegion &box,
                                          int thread_level) {
    StagedProducer staged;
    staged.producer = producer.id;
    staged.consumer = plan.func->id;
    Directive at;
    at.kind = Directive::Kind::ComputeAt;
    at.vars = {innermost_var(plan, thread_level)};
    at.at_func = plan.func->id;
    at.at_stage = plan.stage->index;
    staged.directives.push_back(at);
    NameAllocator names;
    for (const std::string &arg : producer.args) {
        names.reserve(arg);
    }
    std::vector<Directive> unrolls;
    for (int d = 0; d < producer.dims(); d++) {
        const int64_t extent = box.required(d).extent();
        if (extent == 1) {
            continue;
        }
        const std::optional<VarRef> var = pure_var(producer, d);
        if (!var) {
            return std::nullopt;
        }
        const VarRef inner{names.fresh(var->name + "i"), false, -1};
        Directive split;
        split.kind = Directive::Kind::Split;
        split.vars = {*var, *var, inner};
        split.factor = extent;
        split.tail = Tail::RoundUp;
        staged.directives.push_back(split);
        Directive unroll;
        unroll.kind = Directive::Kind::Unroll;
        unroll.vars = {inner};
        unrolls.push_back(unroll);
    }
    staged.directives.insert(staged.directives.end(), unrolls.begin(), unrolls.end());
    return staged;
}

}  // namespace

std::vector<StagedProducer> stage_producers(const StagePlan &plan,
                                            const PipelineGraph &graph,
                                            const BitSet &inlined,
                                            int64_t max_values) {
    std::vector<StagedProducer> result;
    const int thread_level = plan.thread_level();
    if (thread_level < 0 || plan.thread_vars.empty() || !plan.all_unrolled || plan.clips_threads) {
        return result;
    }
    const LoopNest *nest = plan.levels[static_cast<size_t>(thread_level)].nest;
    if (nest == nullptr || serial_levels_inside(*nest) > 1) {
        return result;
    }
    for (const int e : plan.stage->incoming_edges) {
        const Edge &edge = graph.edge(e);
        const FuncNode &producer = graph.func(edge.producer);
        // Another wrapper would get into the way of the user's.
        if (producer.has_wrappers || producer.wrapped_func >= 0) {
            continue;
        }
        if (producer.is_input || producer.is_output || inlined.contains(producer.id) ||
            nest->computes(producer.id) || edge.load_jacobians.empty() ||
            !edge.all_load_jacobians_exist() ||
            is_read_by_another_stage(plan, graph, producer.id)) {
            continue;
        }
        const FuncRegion box = nest->regions->along_chain({e});
        bool exact = true;
        int64_t values = 1;
        for (int d = 0; d < producer.dims() && exact; d++) {
            const Span &span = box.required(d);
            exact = span.exact && span.extent() >= 1 && span.extent() <= max_values / values;
            values *= exact ? span.extent() : 1;
        }
        if (!exact || values == 1 || edge.calls * unrolled_points(plan) < values) {
            continue;
        }
        if (std::optional<StagedProducer> s = make_staged(plan, producer, box, thread_level)) {
            result.push_back(std::move(*s));
        }
    }
    return result;
}

}  // namespace anderson2021
