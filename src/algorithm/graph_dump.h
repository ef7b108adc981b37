// Text form of a graph, for the log and for comparisons.
#pragma once

#include <string>

#include "algorithm/pipeline_graph.h"

namespace anderson2021 {

/// Every Func with its regions, loops, features (of the scalar classes in use) and flags, then
/// every edge with its footprint and access matrices: `_` is an unknown derivative, `n x` in front
/// of a matrix says that n accesses share it.
std::string graph_dump(const PipelineGraph &graph);

}  // namespace anderson2021
