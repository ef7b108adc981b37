// From the features of all root blocks to those of the whole schedule: working sets at the root,
// sums over the leaves of inlined Funcs, and what follows from the whole program's regions.
#pragma once

#include <memory>
#include <vector>

#include "features/feature_matrix.h"
#include "featurizer/block_features.h"

namespace anderson2021 {

/// Facts about the whole program that no schedule changes.
class ProgramFacts {
public:
    ProgramFacts(const PipelineGraph &graph, const NestRegions &root);

    /// Writes the features that describe the Func as a whole.
    void write(int stage_id, int vector_dim, ScheduleFeatures &f) const;

    /// Points of the stage that any schedule has to compute.
    double minimum_points(int stage_id) const {
        return minimum_points_[static_cast<size_t>(stage_id)];
    }

private:
    const PipelineGraph &graph_;
    const NestRegions &root_;
    // Per stage: points that have to be computed at least.
    std::vector<double> minimum_points_;
};

/// Features of the schedule `root`; blocks[i] are those of its child i.
FeatureMatrix reduce_blocks(const PipelineGraph &graph,
                            const ProgramFacts &facts,
                            const LoopNest &root,
                            const std::vector<std::shared_ptr<const BlockFeatures>> &blocks,
                            StoreSets store_sets);

}  // namespace anderson2021
