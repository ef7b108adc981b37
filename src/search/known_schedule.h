// Features and costs of a schedule that is known already.
#pragma once

#include "search/search.h"

namespace anderson2021 {

/// What a search would report of `tree`, a complete schedule, as its winner; without statistics.
/// Throws UserError if the cost model rejects it. `cost_model` must have begun on this graph.
SearchResult evaluate_schedule(const LoopNestPtr &tree,
                               const PipelineGraph &graph,
                               RegionStore &store,
                               const GpuDevice &device,
                               const Options &options,
                               CostModel &cost_model);

}  // namespace anderson2021
