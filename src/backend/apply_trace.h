// Carries out a ScheduleTrace on the user's pipeline.
#pragma once

#include <vector>

#include "Halide.h"

#include "algorithm/pipeline_graph.h"
#include "lowering/directive.h"

namespace anderson2021 {

/// Calls every directive, in order. `functions` are the Funcs of the graph by id.
void apply_trace(const ScheduleTrace &trace,
                 const PipelineGraph &graph,
                 const std::vector<Halide::Internal::Function> &functions);

}  // namespace anderson2021
