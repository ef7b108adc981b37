// What log level 1 prints about the winner. Scripts look for some of these lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "search/search.h"

namespace anderson2021 {

/// The winner's cost, features, tree and schedule source, followed by the search statistics.
std::string describe_result(const SearchResult &result,
                            const PipelineGraph &graph,
                            bool reference_dialect,
                            const std::string &schedule_source);

/// The .featurization file of a schedule: algorithm and schedule features of all stages.
std::vector<uint8_t> featurization_blob(const PipelineGraph &graph, const FeatureMatrix &features);

}  // namespace anderson2021
