#include "lowering/loop_splits.h"

#include <utility>

namespace anderson2021 {

namespace {

int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

LoopVar whole_loop(const StagePlan &plan, int loop) {
    const LoopDim &dim = plan.loop(loop);
    const Span &span = whole_span(plan, loop);
    LoopVar v;
    v.ref = {dim.var, dim.rvar, dim.dims_index};
    v.loop = loop;
    v.trips = span.extent();
    v.exact = span.exact;
    v.pure = dim.pure;
    return v;
}

/// The number of trips is the same at run time: from the text for a reduction, at most that for
/// the other loops.
bool has_known_trips(const StagePlan &plan, const LoopVar &v) {
    const bool from_text = plan.loop(v.loop).source == LoopDim::Source::Constant;
    return v.literal || (v.exact && (from_text || !v.ref.rvar));
}

/// Distributes one pure Var over the levels. With tiles of single points the loops and their
/// planned trips stay the same, only the factors are 1; but there are as many blocks as points.
void split_var(StagePlan &plan, int loop, const TailRules &tails) {
    LoopVar current = whole_loop(plan, loop);
    TileEnd end;
    const int num_levels = static_cast<int>(plan.levels.size());
    for (int l = 0; l < num_levels; l++) {
        PlanLevel &level = plan.levels[static_cast<size_t>(l)];
        const int64_t factor = plan.trips_below(l, loop);
        if (factor == 1) {
            level.vars.push_back(current);
            return;
        }
        if (current.literal && current.trips <= factor) {
            continue;  // A single trip for sure: leave the loop to the next level.
        }
        const bool whole = !current.literal;
        if (whole) {
            end = tails.for_whole_loop(plan, loop, factor);
        }
        LoopVar inner = current;
        inner.ref = plan.split(current.ref, end.single_points ? 1 : factor, end.tail, "i");
        inner.trips = factor;
        inner.literal = inner.exact = true;
        if (!whole || !end.single_points) {
            current.trips = ceil_div(current.trips, factor);
        }
        if (!end.single_points) {
            end.tail = Tail::GuardWithIf;  // The factors inside divide.
        }
        level.vars.push_back(current);
        current = inner;
    }
}

}  // namespace

void split_loops(StagePlan &plan, const TailRules &tails) {
    for (const int loop : loop_order(plan)) {
        if (plan.loop(loop).rvar) {
            plan.levels.back().vars.push_back(whole_loop(plan, loop));
        } else {
            split_var(plan, loop, tails);
        }
    }
}

void unroll_innermost(StagePlan &plan, const TailRules &tails, int64_t unroll_limit) {
    PlanLevel &level = plan.levels.back();
    if (plan.at_root() && plan.levels.size() == 1) {
        return;  // These are the block loops.
    }
    if (!plan.in_thread && plan.thread_level() < 0 && level.nest != nullptr &&
        level.nest->children.size() > 1) {
        return;  // All threads of the block meet at barriers inside the loops.
    }
    int64_t product = 1;
    bool all_pure = true;
    for (const LoopVar &v : level.vars) {
        if (!v.pure) {
            all_pure = false;
        } else if (!has_known_trips(plan, v) || v.trips < 1 || v.trips > unroll_limit / product) {
            return;
        } else {
            product *= v.trips;
        }
    }
    plan.all_unrolled = all_pure;
    std::vector<LoopVar> unrolled, others, outer;
    for (LoopVar &v : level.vars) {
        if (!v.pure) {
            others.push_back(v);
        } else if (v.literal || v.ref.rvar || v.trips == 1) {
            unrolled.push_back(v);
        } else {
            // At the border of the image the region may be smaller than planned, so only a split
            // gives the loop a trip count that is a literal.
            LoopVar inner = v;
            inner.ref = plan.split(v.ref, v.trips, tails.for_box_in_thread(plan), "i");
            inner.literal = true;
            v.trips = 1;
            outer.push_back(v);
            unrolled.push_back(inner);
        }
    }
    for (const LoopVar &v : unrolled) {
        if (v.trips > 1) {
            plan.add(Directive::Kind::Unroll, {v.ref});
        }
    }
    level.vars = std::move(unrolled);
    level.vars.insert(level.vars.end(), others.begin(), others.end());
    level.vars.insert(level.vars.end(), outer.begin(), outer.end());
}

}  // namespace anderson2021
