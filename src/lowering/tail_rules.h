// How a split treats the iterations beyond the end of a loop.
//
// Rounding up is cheapest, but computes points that nobody asked for: their producers are read
// beyond the region that was computed of them. Halide pads the buffers that it allocates itself
// accordingly, but the buffers of the user do not grow, and garbage must never become an address.
// Shifting the last tile inwards needs a loop that is at least as long as the tile. Both leave all
// tiles whole, which is what makes the regions computed inside constant. A guard is always correct,
// but cuts tiles off: everything computed inside gets loops and allocations of variable size.
#pragma once

#include "lowering/stage_plan.h"

namespace anderson2021 {

struct TileEnd {
    Tail tail = Tail::Auto;
    /// Split by 1 instead of the planned factor.
    bool single_points = false;
};

class TailRules {
public:
    explicit TailRules(const PipelineGraph &graph) : graph_(graph) {}

    /// Surplus points of the stage at `nest`, and of everything computed or inlined inside it, do
    /// no harm.
    bool may_overcompute(const LoopNest &nest) const;

    /// How to split loop `loop` of `plan`, which is still whole, by `factor`. Notes in the plan if
    /// that cuts tiles off, or if it requires a minimal number of trips.
    TileEnd for_whole_loop(StagePlan &plan, int loop, int64_t factor) const;

    /// Tail for splitting a loop of a stage inside a thread by its planned number of trips.
    Tail for_box_in_thread(const StagePlan &plan) const;

private:
    bool is_harmless(const StageNode &stage) const;

    const PipelineGraph &graph_;
};

}  // namespace anderson2021
