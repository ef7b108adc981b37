// Features of everything that is computed in one root block: one walk over its nests.
//
// The result is a pure function of the block's subtree, of the sites of the Funcs that the block
// reads from outside, and of the regions at the root. That is what makes it worth remembering.
#pragma once

#include <vector>

#include "featurizer/access_plan.h"
#include "featurizer/groups/groups.h"
#include "featurizer/loop_context.h"
#include "support/pool.h"

namespace anderson2021 {

struct BlockRow {
    int stage_id = -1;
    int vector_dim = -1;
    ScheduleFeatures features;
};

struct BlockFeatures {
    /// Stages with nests in the block, in the order of the walk. Complete but for the working sets
    /// at the root and, for Funcs stored at the root, those at their store site.
    std::vector<BlockRow, PoolAllocator<BlockRow>> rows;
    /// Funcs inlined into the block, in the order of the walk.
    std::vector<InlinedSums> inlined;
    /// Bytes stored inside the block.
    double working_set = 0;
};

/// Bit for bit.
bool identical(const BlockFeatures &a, const BlockFeatures &b);

/// Which Funcs count as stored in a nest.
enum class StoreSets {
    /// Those whose outermost nests are its children.
    ComputeSite,
    /// Those with nests anywhere below.
    EveryAncestor,
};

/// Walks `block`, a child of `root`.
BlockFeatures featurize_block(const FeatureEnvironment &env,
                              AccessPlans &plans,
                              const LoopNest &root,
                              const LoopNest &block,
                              StoreSets store_sets);

}  // namespace anderson2021
