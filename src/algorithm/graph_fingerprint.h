// A fingerprint of everything that a graph says, so that equal ones get equal schedules.
#pragma once

#include "algorithm/pipeline_graph.h"
#include "support/fingerprint.h"

namespace anderson2021 {

/// Adds all fields of all Funcs, stages, edges and branching forms, names included.
void add_graph(const PipelineGraph &graph, Fingerprint &fingerprint);

}  // namespace anderson2021
