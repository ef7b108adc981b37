// Blocks, threads and serial loops for a Func computed at the root.
//
// None of this depends on the rest of the schedule: the loops of a root nest are those of the whole
// Func. So the tilings of a Func are enumerated once per search, as numbers, and nests are built
// only for those that survive.
#pragma once

#include <cstdint>
#include <vector>

#include "device/gpu_device.h"
#include "schedule/loop_nest_editor.h"
#include "support/small_vector.h"
#include "tiling/thread_tilings.h"

namespace anderson2021 {

/// One way to tile all stages of a Func.
struct RootTiling {
    /// Trip counts outside the serial loops, per dimension of the Func.
    Extents outer;
    /// Thread extents, per dimension of the Func.
    Extents threads;
    /// At least 1: multiprocessor time spent over multiprocessor time needed.
    double idle_core_waste = 1;
    /// Tilings with the same serial loops follow each other and share this number.
    int serial_group = 0;
    /// Points of the pure stage that one thread computes.
    int64_t serial_points = 1;
};

/// All tilings in order of preference within each serial group.
/// @param nests  the Func's untiled nests at the root, last stage first
std::vector<RootTiling> root_tilings(const PipelineGraph &graph,
                                     const std::vector<LoopNestPtr> &nests,
                                     int parallelism,
                                     const GpuDevice &device);

/// The nests as Block / Thread / Serial levels, in the same order.
std::vector<LoopNestPtr> build_root_tiling(const LoopNestEditor &editor,
                                           const std::vector<LoopNestPtr> &nests,
                                           const LoopNest &root,
                                           const RootTiling &tiling);

}  // namespace anderson2021
