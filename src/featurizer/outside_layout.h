// What a root block's features depend on outside of the block.
#pragma once

#include <optional>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "featurizer/feature_cache.h"
#include "schedule/loop_nest.h"
#include "schedule/sites.h"

namespace anderson2021 {

/// What a tree does with each Func, as far as that shows at the children of its root.
class RootPlacement {
public:
    RootPlacement(const PipelineGraph &graph, const LoopNest &root);

    /// Some Func that is no input has neither nests nor leaves it is inlined into.
    bool has_unscheduled() const { return has_unscheduled_; }
    /// Vector dimension of a Func with nests at the root; nothing for others.
    std::optional<int> vector_dim(int func) const;

private:
    static constexpr int kNone = -2;
    bool has_unscheduled_ = false;
    std::vector<int> vector_dims_;
};

/// One entry per Func that `block` reads and does not compute, inputs excepted: the vector
/// dimension if it is placed (at the root, then), else the site guessed for it. Funcs behind
/// unscheduled ones have entries as well, because their guesses use the block's shared memory, too.
///
/// @param sites  may be null if nothing is unscheduled
OutsideLayout outside_layout(const PipelineGraph &graph,
                             const LoopNest &block,
                             const RootPlacement &placement,
                             const Sites *sites);

}  // namespace anderson2021
