// A search in a process that wants to know how far it is, or in front of a user who decides by
// hand.
#pragma once

#include "plugin/search_monitor.h"
#include "search/search.h"

namespace anderson2021 {

/// search() whose progress goes to `monitor`, with the decisions of option by_hand.
SearchResult hosted_search(const PipelineGraph &graph,
                           RegionStore &store,
                           const GpuDevice &device,
                           const Options &options,
                           CostModel &cost_model,
                           SearchMonitor &monitor);

}  // namespace anderson2021
