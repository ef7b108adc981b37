#include "search/search_state.h"

#include <utility>

namespace anderson2021 {

void StateCosts::sum_up() {
    total = 0;
    for (const float cost : per_stage) {
        total += static_cast<double>(cost);
    }
}

SearchStatePtr make_initial_state(const PipelineGraph &graph, LoopNestPtr empty_root) {
    StateCosts costs;
    costs.per_stage.resize(graph.record_order().size());
    auto state = std::make_shared<SearchState>();
    state->tree = std::move(empty_root);
    state->costs = std::make_shared<const StateCosts>(std::move(costs));
    state->always_inline = std::make_shared<const BitSet>(graph.num_funcs());
    return state;
}

}  // namespace anderson2021
