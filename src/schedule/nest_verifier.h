// Checks the invariants of a schedule tree. For debug builds, tests and tools: nothing depends on
// it, and every tree that the editor and the search make passes.
#pragma once

#include <optional>
#include <string>

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Nothing if the tree (partial or complete, not completed for featurization) is sound, else the
/// first invariant it breaks, with the Func and the level concerned:
///
/// - levels: known stage, one positive size per loop, right lane loop, leaves of size 1;
/// - order: own level first, then whole Funcs, consumers before producers, last stage first;
/// - labels: blocks and untiled nests at the root only, no threads inside threads;
/// - sizes: all levels of a stage together cover its loops, reductions exactly; no loop that must
///   run in order on Block or Thread levels; thread extents within the limits of the device;
/// - placement: one site per Func, around all of its consumers; outputs at the root, inputs
/// nowhere;
/// - inlining: pure Funcs of one stage that are no outputs, into all leaves that call them, with
/// the
///   right number of calls.
std::optional<std::string>
verify_schedule(const LoopNest &root, const PipelineGraph &graph, const GpuDevice &device);

}  // namespace anderson2021
