// Funcs that a schedule tree computes inside a thread or block, but that have to be computed at the
// root.
//
// The cost model takes estimates of parameters for constants, so the search may place Funcs whose
// size depends on them. A thread has no memory for arrays of variable size: Halide would put them
// into global memory, one slice per thread, which is slow, and slices of several such arrays
// overlap. A block has memory for them, as long as they do not grow beyond it.
#pragma once

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Those Funcs, and those that have to follow them, by id: whatever they read that is not computed
/// inside of them, and what is computed inside but has no constant size.
BitSet
find_root_placements(const LoopNest &root, const PipelineGraph &graph, const GpuDevice &device);

}  // namespace anderson2021
