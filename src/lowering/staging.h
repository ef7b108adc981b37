// Loading what a thread needs of a producer into a per-thread array, once, before the unrolled body
// reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/stage_plan.h"

namespace anderson2021 {

/// Producers of the stage of `plan` that are worth staging at its Thread level, with directives.
///
/// A producer qualifies if no tile is cut off, the body is completely unrolled, the box that one
/// thread reads has a size known from the text of the program, of 2 to `max_values` points, and
/// these points replace at least as many loads. Producers inlined anywhere, computed inside the
/// thread, read by another stage of the same Func or at unknown coordinates, inputs and outputs do
/// not.
std::vector<StagedProducer> stage_producers(const StagePlan &plan,
                                            const PipelineGraph &graph,
                                            const BitSet &inlined,
                                            int64_t max_values);

}  // namespace anderson2021
