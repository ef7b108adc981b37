// Which loops around a leaf become straight-line code.
#pragma once

#include <vector>

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Per loop of `stage`, whether the innermost serial level unrolls it. `above` is the grandparent
/// of the stage's leaf, i.e. the parent of that serial level: its region tells the loops' extents.
///
/// Loops over RVars never unroll, loops of unknown extent neither; and if the others have more
/// than GpuDevice::unroll_limit iterations together, none does.
std::vector<bool>
unrolled_loops(const StageNode &stage, const LoopNest &above, const GpuDevice &device);

}  // namespace anderson2021
