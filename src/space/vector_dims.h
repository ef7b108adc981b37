// Which storage dimension of a Func may become the innermost one, that is, run over the lanes.
#pragma once

#include <vector>

#include "schedule/regions.h"

namespace anderson2021 {

/// Dimensions to be tried, never empty. Dimension 0 for outputs (their layout belongs to the user);
/// else the first one with at least 16 points over the whole program, or every such dimension with
/// `all`; dimension 0 if there is none.
std::vector<int> candidate_vector_dims(const NestRegions &root, const FuncNode &func, bool all);

}  // namespace anderson2021
