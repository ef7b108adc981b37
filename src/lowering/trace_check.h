// Checks a list of scheduling calls without the compiler, which is a matter of microseconds. What
// it finds would otherwise come up only once the pipeline is compiled, or run.
#pragma once

#include <string>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "lowering/directive.h"

namespace anderson2021 {
/// Empty string, or the first call that the compiler or a GPU would refuse: a loop that does not
/// exist (any more) or exists twice, factors below 1, more than three loops of blocks or of
/// threads, loops of blocks inside a kernel, other loops between or around those of blocks that may
/// take more than one turn, more threads than the device allows, a stage at the root that no kernel
/// contains, a Func without a place, a stage that is scheduled twice. Names the stage.
std::string
check_trace(const ScheduleTrace &trace, const PipelineGraph &graph, const GpuDevice &device);

}  // namespace anderson2021
