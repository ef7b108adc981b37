// A node of the search tree: some decisions made, the schedule tree that they lead to, and what it
// is predicted to cost. Immutable and shared; ranks and penalties live in Candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/loop_nest.h"
#include "search/block_table.h"
#include "support/bit_set.h"

namespace anderson2021 {

/// Predicted cost of a (partial) schedule. A pure function of the tree.
struct StateCosts {
    /// ms per stage in record order; 0 for stages that are not decided yet.
    std::vector<float> per_stage;
    /// Sum of per_stage, first to last, in double precision: equal trees have equal bits here
    /// however they were reached.
    double total = 0;
    /// Bytes stored in the whole program, as the features of every stage report it.
    double root_working_set = 0;

    /// What the costs were made from, one per child of the root. Empty if the tree does not follow
    /// the graph order.
    std::vector<BlockRecordPtr> blocks;

    /// Fills total.
    void sum_up();
};

using StateCostsPtr = std::shared_ptr<const StateCosts>;

struct SearchState;
using SearchStatePtr = std::shared_ptr<const SearchState>;

struct SearchState {
    /// Null for the empty schedule.
    SearchStatePtr parent;
    LoopNestPtr tree;
    /// Decision 2k places Func k, decision 2k+1 tiles it if it went to the root.
    int num_decisions = 0;
    StateCostsPtr costs;
    /// Funcs that may be recomputed as often as it takes.
    std::shared_ptr<const BitSet> always_inline;

    double cost() const { return costs->total; }
};

/// Approximate heap bytes of `tree` that it does not share with `parent` (may be null).
size_t approximate_bytes(const LoopNest &tree, const LoopNest *parent);
/// The same of a state and its costs.
size_t approximate_bytes(const SearchState &state);

/// Nothing decided.
SearchStatePtr make_initial_state(const PipelineGraph &graph, LoopNestPtr empty_root);

/// `parent` one decision later, with the same schedule until the caller changes that.
std::shared_ptr<SearchState> make_successor(const SearchStatePtr &parent);

/// The Func that the next decision is about.
inline int next_func(int num_decisions) {
    return num_decisions / 2;
}
/// Whether the next decision is about blocks and threads of a root Func.
inline bool next_is_tiling(int num_decisions) {
    return num_decisions % 2 != 0;
}

}  // namespace anderson2021
