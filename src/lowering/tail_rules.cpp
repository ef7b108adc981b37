#include "lowering/tail_rules.h"

#include <algorithm>

namespace anderson2021 {

namespace {

/// Rounding the tiles of a block-level Func up makes its allocation a little larger at most, that
/// of its producers too, and there is that much shared memory left.
bool has_room_for_rounding(const StagePlan &plan) {
    double growth = 1;
    for (int i = 0; i < plan.num_loops(); i++) {
        const int64_t serial = plan.trips_below(plan.body_level(), i);
        const int64_t extent = std::max<int64_t>(1, whole_span(plan, i).extent());
        if (!plan.loop(i).rvar) {
            growth *= static_cast<double>((extent + serial - 1) / serial * serial) /
                      static_cast<double>(extent);
        }
    }
    constexpr double kMaxGrowth = 1.125;
    // An allocation covers what the Func computes, rounded in one dimension, and what its consumer
    // reads, rounded in another.
    return growth <= kMaxGrowth &&
           plan.shared_bytes_used * kMaxGrowth * kMaxGrowth <= plan.shared_bytes_limit;
}

/// The tile of a thread will be cut off by a guard. If something is computed inside, it is reduced
/// to one point, which cannot be cut.
void cut_threads_tile(StagePlan &plan, int loop) {
    if (plan.trips_below(plan.body_level(), loop) == 1) {
        return;
    }
    if (!plan.computes_others(plan.body_level())) {
        plan.clips_threads = true;
        return;
    }
    for (size_t l = static_cast<size_t>(plan.body_level()) + 1; l < plan.levels.size(); l++) {
        plan.levels[l].size[static_cast<size_t>(loop)] = 1;
    }
}

}  // namespace

bool TailRules::is_harmless(const StageNode &stage) const {
    if (stage.reads_input) {
        return false;
    }
    for (const int e : stage.incoming_edges) {
        const Edge &edge = graph_.edge(e);
        const FuncNode &producer = graph_.func(edge.producer);
        // The user owns the buffers of outputs as well.
        if (producer.is_input || producer.is_output) {
            return false;
        }
        // An unknown derivative may hide an index that is itself loaded.
        if (edge.load_jacobians.empty() || !edge.all_load_jacobians_exist()) {
            return false;
        }
    }
    return stage.index == 0 || (stage.store_jacobian && stage.store_jacobian->all_exist());
}

bool TailRules::may_overcompute(const LoopNest &nest) const {
    if (graph_.func(nest.func).is_output || !is_harmless(graph_.stage(nest.stage_id))) {
        return false;
    }
    for (const InlinedCall &call : nest.inlined) {
        if (!is_harmless(graph_.func(call.func).stages[0])) {
            return false;
        }
    }
    for (const LoopNestPtr &c : nest.children) {
        if (!may_overcompute(*c)) {
            return false;
        }
    }
    return true;
}

TileEnd TailRules::choose(StagePlan &plan, int loop) const {
    return plan.at_root() ? choose_at_root(plan, loop) : choose_in_block(plan, loop);
}

TileEnd TailRules::choose_at_root(StagePlan &plan, int loop) const {
    using Order = TileEnd::Order;
    const Span &span = whole_span(plan, loop);
    const int64_t extent = span.extent();
    const int64_t tile = plan.trips_below(0, loop);
    const int64_t serial = plan.trips_below(plan.body_level(), loop);
    const bool shifts = plan.stage->index == 0;
    const bool single_points = plan.short_loops == ShortLoops::UnitTiles;
    // A loop of unknown length can be long enough for a whole tile by condition only.
    const auto may_shift = [&](int64_t factor) {
        return shifts && extent >= factor &&
               (span.exact || plan.short_loops != ShortLoops::Guarded);
    };
    const auto shift = [&](Order order, int64_t factor) -> TileEnd {
        if (span.exact) {
            return {order, Tail::ShiftInwards, false};
        }
        plan.long_loops.emplace_back(loop, factor);
        return {order, single_points ? Tail::Auto : Tail::ShiftInwards, single_points};
    };

    if (may_overcompute(*plan.outermost)) {
        return {Order::BlockFirst, Tail::RoundUp, false};
    }
    if (span.exact && extent % tile == 0) {
        return {Order::BlockFirst, Tail::GuardWithIf, false};
    }
    if (may_shift(tile) && (span.exact || plan.computes_others_at(0))) {
        return shift(Order::BlockFirst, tile);
    }
    plan.clips_blocks = true;
    if (serial > 1 && may_shift(serial)) {
        return shift(Order::SerialFirst, serial);
    }
    cut_threads_tile(plan, loop);
    return {Order::SerialFirst, Tail::GuardWithIf, false};
}

TileEnd TailRules::choose_in_block(StagePlan &plan, int loop) const {
    const Span &span = whole_span(plan, loop);
    const int64_t serial = plan.trips_below(plan.body_level(), loop);
    const bool divides = span.exact && span.extent() % serial == 0;
    if (may_overcompute(*plan.outermost) && (divides || has_room_for_rounding(plan))) {
        return {TileEnd::Order::SerialFirst, Tail::RoundUp, false};
    }
    if (!divides || plan.in_clipped_tile) {
        cut_threads_tile(plan, loop);
    }
    return {TileEnd::Order::SerialFirst, Tail::GuardWithIf, false};
}

Tail TailRules::for_box_in_thread(const StagePlan &plan) const {
    return !plan.in_clipped_tile && may_overcompute(*plan.outermost) ? Tail::RoundUp
                                                                     : Tail::GuardWithIf;
}

}  // namespace anderson2021
