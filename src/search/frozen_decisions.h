// Decisions of a quick first pass that later passes have to keep: where the cheap Funcs go.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "search/search_state.h"

namespace anderson2021 {

class FrozenDecisions {
public:
    /// Nothing is frozen.
    FrozenDecisions() = default;
    /// Freezes the cheapest Funcs of a complete schedule in which every Func is inlined or at the
    /// root: all but log2 of their number, by predicted cost of all stages of the Func.
    FrozenDecisions(const PipelineGraph &graph, const SearchState &best);

    /// Leaves the Func to the search after all.
    void thaw(int func);

    bool is_inlined(int func) const { return inlined_.count(func) != 0; }
    /// Tiled nests of a Func frozen at the root, last stage first; null if it is not.
    const std::vector<LoopNestPtr> *root_nests(int func) const;

private:
    std::set<int> inlined_;
    std::map<int, std::vector<LoopNestPtr>> root_nests_;
};

/// Predicted cost per Func in ms, by id; 0 for inputs.
std::vector<double> cost_per_func(const PipelineGraph &graph, const StateCosts &costs);

}  // namespace anderson2021
