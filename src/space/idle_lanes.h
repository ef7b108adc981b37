// How many lanes of a block's warps have nothing to do.
#pragma once

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// The largest WarpLayout::idle_lane_waste of the Thread levels in `root`, each within the union of
/// its block's threads; 0 if there are none.
double worst_idle_lane_waste(const LoopNest &root, const GpuDevice &device);

/// The same of one child of the root. A schedule is as bad as its worst task.
double idle_lane_waste_of_task(const LoopNest &task, const GpuDevice &device);

}  // namespace anderson2021
