#include "search/frozen_decisions.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace anderson2021 {

namespace {

// The schedule right after the Func was tiled: nothing is inlined into its nests yet, so that
// later decisions about its producers start from them afresh.
const SearchState &after_tiling(const SearchState &best, int func) {
    const SearchState *state = &best;
    while (state->num_decisions > 2 * func + 2) {
        ANDERSON_CHECK(state->parent != nullptr);
        state = state->parent.get();
    }
    return *state;
}

}  // namespace

std::vector<double> cost_per_func(const PipelineGraph &graph, const StateCosts &costs) {
    std::vector<double> result(static_cast<size_t>(graph.num_funcs()));
    const std::vector<int> &order = graph.record_order();
    for (size_t i = 0; i < order.size(); i++) {
        result[static_cast<size_t>(graph.stage(order[i]).func)] +=
            static_cast<double>(costs.per_stage[i]);
    }
    return result;
}

FrozenDecisions::FrozenDecisions(const PipelineGraph &graph, const SearchState &best) {
    const std::vector<double> costs = cost_per_func(graph, *best.costs);
    std::vector<int> funcs;
    for (const FuncNode &func : graph.funcs) {
        if (!func.is_input) {
            funcs.push_back(func.id);
        }
    }
    std::stable_sort(funcs.begin(), funcs.end(), [&](int a, int b) {
        return costs[static_cast<size_t>(a)] < costs[static_cast<size_t>(b)];
    });
    const auto count = static_cast<double>(funcs.size());
    const auto num_frozen = static_cast<size_t>(funcs.empty() ? 0 : count - std::log2(count));

    for (size_t i = 0; i < num_frozen; i++) {
        const int func = funcs[i];
        std::vector<LoopNestPtr> nests;
        for (const LoopNestPtr &child : after_tiling(best, func).tree->children) {
            if (child->func == func) {
                nests.push_back(child);
            }
        }
        if (!nests.empty()) {
            root_nests_.emplace(func, std::move(nests));
        } else {
            inlined_.insert(func);
        }
    }
}

void FrozenDecisions::thaw(int func) {
    inlined_.erase(func);
    root_nests_.erase(func);
}

const std::vector<LoopNestPtr> *FrozenDecisions::root_nests(int func) const {
    const auto found = root_nests_.find(func);
    return found == root_nests_.end() ? nullptr : &found->second;
}

}  // namespace anderson2021
