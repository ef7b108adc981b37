// Features of real schedules, as a search meets them: random walks through the schedules of small
// pipelines, complete ones and partial ones.
#pragma once

#include <vector>

#include "costmodel/cost_model.h"

namespace anderson2021 {
namespace test {

/// Schedules of one pipeline.
struct FeaturizedPipeline {
    const char *name;
    AlgorithmInputs inputs;
    /// Per schedule the rows of the stages that it places or inlines, at most inputs.num_stages.
    std::vector<std::vector<StageRow>> schedules;
};

/// The pipelines of graph_fixtures.h, with synthetic counts as features of the algorithm.
std::vector<FeaturizedPipeline> featurized_pipelines(int walks);

}  // namespace test
}  // namespace anderson2021
