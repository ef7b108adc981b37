// Distils expressions into the trees from which expression branching is computed.
#pragma once

#include <map>
#include <string>

#include "Halide.h"

#include "algorithm/branching.h"

namespace anderson2021 {

/// Trees of the canonicalised values and arguments of the pure definition of `f`.
/// @param func_ids  id per Func name; calls of other names are ordinary calls
BranchingForm branching_form(const Halide::Internal::Function &f,
                             const std::map<std::string, int> &func_ids);

}  // namespace anderson2021
