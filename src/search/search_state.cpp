#include "search/search_state.h"

#include <utility>

namespace anderson2021 {

void StateCosts::sum_up() {
    total = 0;
    for (const float cost : per_stage) {
        total += static_cast<double>(cost);
    }
}

size_t approximate_bytes(const LoopNest &tree, const LoopNest *parent) {
    size_t bytes = sizeof(LoopNest) + tree.children.size() * sizeof(LoopNestPtr);
    for (size_t i = 0; i < tree.children.size(); i++) {
        if (parent == nullptr || i >= parent->children.size() ||
            parent->children[i] != tree.children[i]) {
            bytes += approximate_bytes_of_block(*tree.children[i]);
        }
    }
    return bytes;
}

size_t approximate_bytes(const SearchState &state) {
    return sizeof(SearchState) + sizeof(StateCosts) +
           state.costs->per_stage.size() * sizeof(float) +
           state.costs->blocks.size() * sizeof(BlockRecordPtr) +
           approximate_bytes(*state.tree,
                             state.parent != nullptr ? state.parent->tree.get() : nullptr);
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

std::shared_ptr<SearchState> make_successor(const SearchStatePtr &parent) {
    auto next = std::make_shared<SearchState>(*parent);
    next->parent = parent;
    next->num_decisions++;
    return next;
}

}  // namespace anderson2021
