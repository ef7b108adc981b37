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

    /// No Func is placed or inlined while one before it in graph order, which its consumers are, is
    /// not. Trees that a search grows are like that; those with Funcs placed beforehand may not be.
    bool follows_graph_order() const { return follows_graph_order_; }
    /// Vector dimension of a Func with nests at the root; nothing for others.
    std::optional<int> vector_dim(int func) const;

private:
    static constexpr int kNone = -2;
    bool follows_graph_order_ = true;
    std::vector<int> vector_dims_;
};

/// One entry per Func that `block` reads and does not compute, inputs excepted: the vector
/// dimension if it is placed (at the root, then), else that it is not placed, or the site guessed
/// for it. Funcs behind unscheduled ones have entries as well, because their guesses use the
/// block's shared memory, too.
///
/// If the tree follows the graph order, guesses need not be looked at, because the rest of the
/// entries and the block determine them. A guess lies inside the block if all consumers do, be it
/// by their own guess, else at the root. All consumers of a Func that is inlined into the block are
/// placed; one of them outside of the block means a leaf outside. A consumer that is not placed
/// and that the block does not lead to is outside as well.
///
/// @param sites  null: leave the guesses out; only if placement.follows_graph_order()
OutsideLayout outside_layout(const PipelineGraph &graph,
                             const LoopNest &block,
                             const RootPlacement &placement,
                             const Sites *sites);

/// The Funcs that `block` needs, directly or through each other, and that are not placed yet. Only
/// if placement.follows_graph_order().
///
/// @param upstream  per Func, all Funcs that it needs
BitSet open_funcs(const PipelineGraph &graph,
                  const LoopNest &block,
                  const RootPlacement &placement,
                  const std::vector<BitSet> &upstream);

/// outside_layout(graph, block, placement, nullptr), made from open_funcs() in less time.
OutsideLayout outside_layout(const PipelineGraph &graph,
                             const LoopNest &block,
                             const RootPlacement &placement,
                             const BitSet &open);

}  // namespace anderson2021
