// An estimate of the registers that a thread needs, made before anything is compiled.
//
// What decides is the straight-line code of a stage, i.e. the points that its innermost level
// unrolls. Compilers move all address arithmetic, and many loads, to its front, so that much of
// that is alive at once; around it are the arrays that the thread keeps. The estimate adds these up
// with factors that were fitted to what ptxas says of more than a thousand kernels. It says how
// likely values do not fit and are spilled to memory, not how many registers a kernel has.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// What the straight-line code of one stage has to keep at hand.
struct RegisterUse {
    int stage_id = -1;
    /// Values, of four bytes each, of all Funcs that the thread stores at this point.
    int64_t stored = 0;
    /// Points of the stage.
    int64_t points = 1;
    /// The code stands inside of loops of the same thread.
    bool repeats = false;
    /// Reads of all points, wherever from.
    int64_t reads = 0;
    /// Rows of memory that it reads from: each has an address of its own.
    int64_t global_rows = 0, shared_rows = 0;
    /// Reads whose coordinates are no linear functions of the loops: as many addresses.
    int64_t gathers = 0;
    /// Extents, known at run time only, of all that the kernel stores. Strides follow from them,
    /// and stay in registers from phase to phase.
    int64_t open_extents = 0;
};

/// One entry per leaf of `task`, a child of the root; a stage that is not tiled has none.
std::vector<RegisterUse>
register_use(const LoopNest &task, const PipelineGraph &graph, const GpuDevice &device);

/// Registers of four bytes.
int64_t registers_needed(const RegisterUse &use);

/// The largest number of all leaves of `task`, a child of the root.
int64_t registers_needed(const LoopNest &task, const PipelineGraph &graph, const GpuDevice &device);

}  // namespace anderson2021
