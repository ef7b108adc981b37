#include "lowering/loop_splits.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

namespace {

// Copies of a stage that unrolling may make in all, and of a stage in whose loops others are
// computed. The latter are nested scopes in OpenCL, whose compilers allow 256.
constexpr int64_t kMaxCopies = 256;
constexpr int64_t kMaxCopiesOfStages = 64;

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

class VarSplitter {
public:
    VarSplitter(StagePlan &plan, int loop, const TailRules &tails)
        : plan_(plan), loop_(loop), current_(whole_loop(plan, loop)) {
        if (plan.trips_below(0, loop) > 1) {
            end_ = tails.choose(plan, loop);
        }
    }

    /// Distributes the loop over the levels. With tiles of single points the loops and their
    /// planned trips stay the same, only the factors are 1; but there are as many blocks as points.
    void run() {
        const int body = plan_.body_level();
        if (plan_.at_root() && body > 0 && end_.order == TileEnd::Order::SerialFirst) {
            split_serial_first(body);
            return;
        }
        split_from(0);
    }

private:
    void split_from(int level) {
        for (int l = level; l < static_cast<int>(plan_.levels.size()); l++) {
            const int64_t factor = plan_.trips_below(l, loop_);
            if (factor == 1) {
                put(l, current_);
                return;
            }
            if (current_.literal && current_.trips <= factor) {
                continue;  // A single trip for sure: leave the loop to the next level.
            }
            const bool whole = !current_.literal;
            const LoopVar inner = split(factor, whole ? end_.tail : Tail::GuardWithIf, "i");
            put(l, current_);
            current_ = inner;
        }
    }

    void split_serial_first(int body) {
        const int64_t serial = plan_.trips_below(body, loop_);
        const int64_t threads = plan_.trips_below(0, loop_) / serial;
        if (serial > 1) {
            const LoopVar inner = split(serial, end_.tail, threads > 1 ? "ii" : "i");
            const LoopVar rest = current_;
            current_ = inner;
            split_from(body + 1);
            current_ = rest;
        }
        if (threads > 1) {
            const LoopVar inner = split(threads, Tail::GuardWithIf, "i");
            put(body, inner);
        }
        put(0, current_);
    }

    /// Splits the current variable, which becomes the outer one; returns the inner one.
    LoopVar split(int64_t factor, Tail tail, const std::string &suffix) {
        LoopVar inner = current_;
        inner.ref = plan_.split(current_.ref,
                                end_.single_points ? 1 : factor,
                                end_.single_points ? Tail::Auto : tail,
                                suffix);
        inner.trips = factor;
        inner.literal = inner.exact = true;
        if (current_.literal || !end_.single_points) {
            current_.trips = ceil_div(current_.trips, factor);
        }
        return inner;
    }

    void put(int level, const LoopVar &var) {
        plan_.levels[static_cast<size_t>(level)].vars.push_back(var);
    }

    StagePlan &plan_;
    int loop_;
    LoopVar current_;
    TileEnd end_;
};

}  // namespace

void split_loops(StagePlan &plan, const TailRules &tails) {
    for (const int loop : loop_order(plan)) {
        if (plan.loop(loop).rvar) {
            plan.levels.back().vars.push_back(whole_loop(plan, loop));
        } else {
            VarSplitter(plan, loop, tails).run();
        }
    }
}

void unroll_innermost(StagePlan &plan, const TailRules &tails, int64_t unroll_limit) {
    PlanLevel &level = plan.levels.back();
    const bool has_inner_stages = plan.computes_others(static_cast<int>(plan.levels.size()) - 1);
    unroll_limit = std::min(
        unroll_limit, (has_inner_stages ? kMaxCopiesOfStages : kMaxCopies) / plan.unrolled_around);
    if (plan.at_root() && plan.levels.size() == 1) {
        return;  // These are the block loops.
    }
    if (!plan.in_thread && plan.thread_level() < 0 && has_inner_stages) {
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
    plan.unrolled_points = product;
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
