// The loops of a nest in the form that the tiling functions want.
#pragma once

#include <vector>

#include "schedule/loop_nest.h"
#include "support/small_vector.h"
#include "tiling/thread_tilings.h"

namespace anderson2021 {

/// Sizes of one nest with the pure dimension of each loop.
StageExtents stage_extents(const PipelineGraph &graph, const LoopNest &nest);

/// Extents of the nests of all stages of a Func, pure stage first. `nests` is ordered as in a tree,
/// last stage first.
std::vector<StageExtents> stage_extents(const PipelineGraph &graph,
                                        const std::vector<LoopNestPtr> &nests);

}  // namespace anderson2021
