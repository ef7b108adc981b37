// Refuses pipelines that the user has already scheduled.
#pragma once

#include "Halide.h"

namespace anderson2021 {

/// Returns if `f` is unscheduled apart from loop orders, bounds and estimates, and has a definition
/// in the language itself. Otherwise throws UserError, naming the Func, the directive and the
/// remedy.
void require_unscheduled(const Halide::Internal::Function &f);

}  // namespace anderson2021
