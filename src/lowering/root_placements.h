// Funcs that a schedule tree computes inside a thread, but that have to be computed at the root.
//
// A thread has no memory for arrays whose size depends on parameters or sizes at run time. Halide
// would put them into global memory, one slice per thread, which is slow, and slices of several
// such arrays overlap. (The cost model takes estimates of parameters for constants, so the search
// does place Funcs like that.)
#pragma once

#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Those Funcs, and whatever they read that is not computed inside of them, by id.
BitSet find_root_placements(const LoopNest &root, const PipelineGraph &graph);

}  // namespace anderson2021
