// Describes candidates of a decision in a line each, for people and for transcripts.
#pragma once

#include <string>
#include <vector>

#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Where `func` has gone in `tree`, which follows from `parent` by placing it, its loops there, and
/// those loops of other Funcs that have been split for it. Sizes are trip counts, innermost loop
/// first.
std::string describe_placement(const LoopNest &parent,
                               const LoopNest &tree,
                               int func,
                               const PipelineGraph &graph);

/// Blocks, threads and serial loops of all stages of a Func at the root.
std::string describe_tiling(const std::vector<LoopNestPtr> &nests);

}  // namespace anderson2021
