// Which loops around a leaf become straight-line code.
#pragma once

#include <vector>

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// The loops of `stage` that the innermost serial level unrolls. `above` is the grandparent
/// of the stage's leaf, i.e. the parent of that serial level: its region tells the loops' extents.
///
/// Loops over RVars never unroll, loops of unknown extent neither; and if the others have more
/// than GpuDevice::unroll_limit iterations together, none does.
BitSet unrolled_loops(const StageNode &stage, const LoopNest &above, const GpuDevice &device);

/// Reads of unrolled code inside of several loops of unknown length, which take a compiler minutes
/// if they are more than this.
constexpr int64_t kMaxReadsInUnknownLoops = 160;

/// Reads in the unrolled code of the stage with outermost level `nest`, computed in a block at
/// `site`; 0 unless the code stands inside of several loops of unknown length, which let the stage
/// have more points than it has threads for. Compilers look for address arithmetic to be shared
/// between the iterations of such loops, in a time that soon explodes: with 150 reads a second,
/// with 300 more than a minute.
int64_t
reads_in_unknown_loops(const LoopNest &nest, const LoopNest &site, const PipelineGraph &graph);

}  // namespace anderson2021
