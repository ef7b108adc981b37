// How a split treats the iterations beyond the end of a loop.
//
// Rounding up is cheapest, but computes points that nobody asked for: their producers are read
// beyond the region that was computed of them. Halide pads the buffers that it allocates itself
// accordingly, but the buffers of the user do not grow, and garbage must never become an address.
// Shifting inwards needs a loop that is at least as long as the factor, whatever the sizes at run
// time. A guard is always correct.
#pragma once

#include "lowering/stage_plan.h"

namespace anderson2021 {

class TailRules {
public:
    explicit TailRules(const PipelineGraph &graph) : graph_(graph) {}

    /// Surplus points of the stage at `nest`, and of everything computed or inlined inside it, do
    /// no harm.
    bool may_overcompute(const LoopNest &nest) const;

    /// Tail for splitting loop `loop` of `plan`, which is still whole and has `span` at the compute
    /// site, by `factor`.
    Tail for_whole_loop(const StagePlan &plan, const Span &span, int64_t factor) const;

private:
    bool is_harmless(const StageNode &stage) const;

    const PipelineGraph &graph_;
};

}  // namespace anderson2021
