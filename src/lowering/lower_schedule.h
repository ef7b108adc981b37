// From the best schedule tree to scheduling calls, free of the compiler.
#pragma once

#include "device/gpu_device.h"
#include "lowering/directive.h"
#include "schedule/loop_nest.h"
#include "schedule/regions.h"

namespace anderson2021 {

struct LoweringOptions {
    /// Largest number of values of a producer that one thread stages in registers.
    int64_t max_staged_values = 64;
    /// Give more threads to stages that would run few per block, instead of blocks.
    bool spread_blocks = true;
};

/// Scheduling calls for a complete tree. Whatever the sizes at run time, the calls are accepted by
/// the compiler and give correct results; estimates only decide on shapes. A tree that exceeds a
/// limit of the device is still lowered: surplus threads become serial loops.
ScheduleTrace lower_schedule(const LoopNest &root,
                             const PipelineGraph &graph,
                             const GpuDevice &device,
                             const LoweringOptions &options = {});

/// C++ text of the trace: the body of a function with parameters `Halide::Pipeline pipeline` and
/// `Halide::Target target`. Compiles as it stands.
std::string print_trace(const ScheduleTrace &trace, const PipelineGraph &graph);

}  // namespace anderson2021
