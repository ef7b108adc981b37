// How a split treats the iterations beyond the end of a loop.
//
// - Rounding up is cheapest, but computes points that nobody asked for: their producers are read
//   beyond the region that was computed of them. Halide pads the buffers that it allocates itself
//   accordingly, but the buffers of the user do not grow, and garbage must never become an address.
// - Shifting the last tile inwards needs a loop at least as long as the tile, whatever the sizes at
//   run time.
// - A guard is always correct, but cuts tiles off. What is computed inside such a tile has loops
//   and allocations of variable size: bad for shared memory, hopeless for registers.
//
// So what matters is which tiles stay whole: those of the blocks if something is computed at block
// level, those of the threads (the serial loops) if something is computed in or staged for a
// thread.
#pragma once

#include "lowering/stage_plan.h"

namespace anderson2021 {

/// How to split a loop that is still whole.
struct TileEnd {
    enum class Order {
        /// By the tile of a block first; splits inside divide evenly.
        BlockFirst,
        /// By the tile of a thread first; then the number of such tiles, with a guard, by the
        /// number of threads.
        SerialFirst,
    };
    Order order = Order::BlockFirst;
    /// Tail of the first split.
    Tail tail = Tail::GuardWithIf;
    /// Use 1 for every factor.
    bool single_points = false;
};

class TailRules {
public:
    explicit TailRules(const PipelineGraph &graph) : graph_(graph) {}

    /// Decides about loop `loop` of `plan`. Notes in the plan if that cuts tiles off, or if it
    /// requires a minimal number of trips; may take the serial trips out of the plan where a tile
    /// of several points could not stay whole.
    TileEnd choose(StagePlan &plan, int loop) const;

    /// Tail for splitting a loop of a stage inside a thread by its planned number of trips.
    Tail for_box_in_thread(const StagePlan &plan) const;

    /// Surplus points of the stage at `nest`, and of everything computed or inlined inside it, do
    /// no harm.
    bool may_overcompute(const LoopNest &nest) const;

private:
    bool is_harmless(const StageNode &stage) const;
    TileEnd choose_at_root(StagePlan &plan, int loop) const;
    TileEnd choose_in_block(StagePlan &plan, int loop) const;

    const PipelineGraph &graph_;
};

}  // namespace anderson2021
