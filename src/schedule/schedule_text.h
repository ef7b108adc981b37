// The text form of a schedule tree: printed in logs, read back from partial-schedule files.
#pragma once

#include <string>

#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Prints the tree. With `reference_dialect` every ancestor of a compute site lists the Func on a
/// `realize:` line too, as the reference plugin does.
std::string
print_schedule(const LoopNest &root, const PipelineGraph &graph, bool reference_dialect = false);

}  // namespace anderson2021
