// Funcs that a schedule tree computes inside a thread or block, but that have to be computed at the
// root, because the kernel has no room for them at every size. The search avoids such trees, but a
// tree can come from elsewhere.
#pragma once

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Those Funcs, and those that have to follow them, by id: whatever they read that is not computed
/// inside of them, and what is computed inside but has no constant size.
BitSet
find_root_placements(const LoopNest &root, const PipelineGraph &graph, const GpuDevice &device);

}  // namespace anderson2021
