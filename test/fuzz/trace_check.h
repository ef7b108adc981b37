// Checks a list of scheduling calls without the compiler.
#pragma once

#include <string>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "lowering/directive.h"

namespace anderson2021 {
namespace test {

/// Empty string, or the first call that the compiler or a GPU would refuse: a loop that does not
/// exist (any more) or exists twice, factors below 1, more than three loops of blocks or of
/// threads, more threads than the device allows, a stage at the root that no kernel contains, a
/// Func without a place, a stage that is scheduled twice.
std::string
check_trace(const ScheduleTrace &trace, const PipelineGraph &graph, const GpuDevice &device);

}  // namespace test
}  // namespace anderson2021
