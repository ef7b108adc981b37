#include "lowering/stage_plan.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace anderson2021 {

const char *const kOutermostVar = "__outermost";

namespace {

const LoopNest *next_level(const LoopNest &nest) {
    for (const LoopNestPtr &c : nest.children) {
        if (c->stage_id == nest.stage_id) {
            return c.get();
        }
    }
    return nullptr;
}

size_t position_of(const std::vector<VarRef> &order, const std::string &name) {
    for (size_t i = 0; i < order.size(); i++) {
        if (order[i].name == name) {
            return i;
        }
    }
    ANDERSON_CHECK(false) << "No loop " << name;
    return 0;
}

std::vector<PlanLevel> tree_levels(const LoopNest &outermost) {
    std::vector<PlanLevel> levels;
    for (const LoopNest *nest = &outermost; nest != nullptr; nest = next_level(*nest)) {
        if (!nest->innermost) {
            PlanLevel level;
            level.axis = nest->axis;
            level.nest = nest;
            level.size = nest->size;
            levels.push_back(std::move(level));
        }
    }
    return levels;
}

/// A plan without levels.
StagePlan
empty_plan(const PipelineGraph &graph, const LoopNest &outermost, const LoopNest &parent) {
    StagePlan plan;
    plan.func = &graph.func(outermost.func);
    plan.stage = &graph.stage(outermost.stage_id);
    plan.parent = &parent;
    plan.outermost = &outermost;
    plan.names.reserve(kOutermostVar);
    for (int i = 0; i < plan.num_loops(); i++) {
        const LoopDim &dim = plan.loop(i);
        plan.names.reserve(dim.var);
        plan.order.push_back({dim.var, dim.rvar, dim.dims_index});
    }
    std::stable_sort(plan.order.begin(), plan.order.end(), [](const VarRef &a, const VarRef &b) {
        return a.dims_index < b.dims_index;
    });
    return plan;
}

/// Block loops and reductions must not share a level: an untiled stage gets an inner one.
void separate_reductions(StagePlan &plan) {
    if (plan.levels.size() > 1) {
        return;
    }
    PlanLevel inner;
    inner.axis = GpuAxis::Serial;
    inner.size.assign(static_cast<size_t>(plan.num_loops()), 1);
    bool any_var = false;
    for (int i = 0; i < plan.num_loops(); i++) {
        any_var = any_var || !plan.loop(i).rvar;
        if (plan.loop(i).rvar) {
            std::swap(inner.size[static_cast<size_t>(i)],
                      plan.levels[0].size[static_cast<size_t>(i)]);
        }
    }
    if (any_var) {
        plan.levels.push_back(std::move(inner));
    }
}

}  // namespace

int StagePlan::thread_level() const {
    for (size_t l = 0; l < levels.size(); l++) {
        if (levels[l].axis == GpuAxis::Thread) {
            return static_cast<int>(l);
        }
    }
    return -1;
}

int64_t StagePlan::trips_below(int level, int loop) const {
    int64_t trips = 1;
    for (size_t l = static_cast<size_t>(level) + 1; l < levels.size(); l++) {
        trips *= levels[l].size[static_cast<size_t>(loop)];
    }
    return trips;
}

bool StagePlan::computes_others_at(int level) const {
    const LoopNest *const nest = levels[static_cast<size_t>(level)].nest;
    return nest != nullptr &&
           std::any_of(nest->children.begin(), nest->children.end(), [&](const LoopNestPtr &c) {
               return c->stage_id != nest->stage_id;
           });
}

bool StagePlan::computes_others(int level) const {
    for (int l = level; l < static_cast<int>(levels.size()); l++) {
        if (computes_others_at(l)) {
            return true;
        }
    }
    return false;
}

VarRef StagePlan::split(const VarRef &var, int64_t factor, Tail tail, const std::string &suffix) {
    VarRef inner;
    inner.name = names.fresh(var.name + suffix);
    Directive d;
    d.kind = Directive::Kind::Split;
    d.vars = {var, var, inner};
    d.factor = factor;
    d.tail = tail;
    directives.push_back(std::move(d));
    const size_t at = position_of(order, var.name);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), inner);
    return inner;
}

VarRef
StagePlan::split_outer(const VarRef &var, int64_t factor, Tail tail, const std::string &suffix) {
    VarRef outer;
    outer.name = names.fresh(var.name + suffix);
    Directive d;
    d.kind = Directive::Kind::Split;
    d.vars = {var, outer, var};
    d.factor = factor;
    d.tail = tail;
    directives.push_back(std::move(d));
    const size_t at = position_of(order, var.name);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at) + 1, outer);
    return outer;
}

VarRef StagePlan::split_outermost(const std::string &name) {
    VarRef inner;
    inner.name = names.fresh(name);
    const VarRef around{kOutermostVar, false, -1};
    Directive d;
    d.kind = Directive::Kind::Split;
    d.vars = {around, around, inner};
    d.factor = 1;
    directives.push_back(std::move(d));
    order.push_back(inner);
    return inner;
}

void StagePlan::add(Directive::Kind kind, std::vector<VarRef> vars) {
    Directive d;
    d.kind = kind;
    d.vars = std::move(vars);
    directives.push_back(std::move(d));
}

StagePlan
make_stage_plan(const PipelineGraph &graph, const LoopNest &outermost, const LoopNest &parent) {
    StagePlan plan = empty_plan(graph, outermost, parent);
    plan.levels = tree_levels(outermost);
    ANDERSON_CHECK(!plan.levels.empty()) << plan.stage->name << " has no level besides its leaf";
    if (parent.is_root()) {
        separate_reductions(plan);
    }
    return plan;
}

StagePlan make_root_stage_plan(const PipelineGraph &graph,
                               const LoopNest &outermost,
                               const LoopNest &root,
                               int64_t num_threads) {
    StagePlan plan = empty_plan(graph, outermost, root);
    const auto n = static_cast<size_t>(plan.num_loops());
    PlanLevel blocks, threads;
    blocks.axis = GpuAxis::Block;
    threads.axis = GpuAxis::Thread;
    blocks.size.assign(n, 1);
    threads.size.assign(n, 1);
    std::vector<PlanLevel> serial = tree_levels(outermost);
    for (PlanLevel &level : serial) {
        level.axis = GpuAxis::Serial;
        level.size.assign(n, 1);
    }
    bool first = true;
    for (const int loop : loop_order(plan)) {
        const auto i = static_cast<size_t>(loop);
        const int64_t trips = std::max<int64_t>(1, whole_span(plan, loop).extent());
        if (plan.loop(loop).rvar) {
            serial.back().size[i] = trips;
            continue;
        }
        threads.size[i] = first ? std::min(num_threads, trips) : 1;
        blocks.size[i] = (trips + threads.size[i] - 1) / threads.size[i];
        first = false;
    }
    plan.levels = std::move(serial);
    plan.levels.insert(plan.levels.begin(), {std::move(blocks), std::move(threads)});
    return plan;
}

std::vector<int> loop_order(const StagePlan &plan) {
    std::vector<int> order;
    for (int i = 0; i < plan.num_loops(); i++) {
        order.push_back(i);
    }
    // Reductions keep their places: only pure Vars step aside for the lane loop.
    for (int i = plan.outermost->lane_loop;
         i > 0 && !plan.loop(order[static_cast<size_t>(i - 1)]).rvar;
         i--) {
        std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(i - 1)]);
    }
    return order;
}

const Span &whole_span(const StagePlan &plan, int loop) {
    return plan.parent->regions->of(plan.func->id).loop(plan.stage->index, loop);
}

VarRef innermost_var(const StagePlan &plan, int level) {
    for (int l = level; l >= 0; l--) {
        const std::vector<LoopVar> &vars = plan.levels[static_cast<size_t>(l)].vars;
        if (!vars.empty()) {
            return vars.front().ref;
        }
    }
    return {kOutermostVar, false, -1};
}

void reorder_loops(StagePlan &plan) {
    std::vector<VarRef> wanted;
    for (auto level = plan.levels.rbegin(); level != plan.levels.rend(); ++level) {
        for (const LoopVar &v : level->vars) {
            wanted.push_back(v.ref);
        }
    }
    ANDERSON_CHECK(wanted.size() == plan.order.size())
        << plan.stage->name << " has " << plan.order.size() << " loops, but " << wanted.size()
        << " are in its levels";
    const bool same = std::equal(wanted.begin(),
                                 wanted.end(),
                                 plan.order.begin(),
                                 [](const VarRef &a, const VarRef &b) { return a.name == b.name; });
    if (!same) {
        plan.order = wanted;
        plan.add(Directive::Kind::Reorder, std::move(wanted));
    }
}

}  // namespace anderson2021
