#include <gtest/gtest.h>

#include "search/frozen_decisions.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

using test::SearchHarness;

// Follows the first successor (inlining, where it is legal) or the last one (root placement and
// some tiling; fusion is off).
SearchStatePtr walk(SearchHarness &h, const std::vector<bool> &inline_func) {
    h.settings.moves = h.settings.moves.without_fusion();
    SearchStatePtr state = h.initial_state();
    while (state->num_decisions < 2 * h.graph.num_funcs()) {
        const std::vector<SearchStatePtr> next = h.successors(state);
        const auto func = static_cast<size_t>(next_func(state->num_decisions));
        state = inline_func[func] ? next.front() : next.back();
    }
    return state;
}

TEST(FrozenDecisions, CostPerFuncAddsUpItsOwnStages) {
    const PipelineGraph graph = test::mat_mul_graph(64);
    StateCosts costs;
    costs.per_stage = {1, 20, 300};  // out, the update of prod, prod
    EXPECT_EQ(cost_per_func(graph, costs), (std::vector<double>{1, 320, 0, 0}));
}

// Of the three Funcs h, g, f, 3 - log2(3) = 1.4 are frozen: the cheapest one.
TEST(FrozenDecisions, FreezesTheCheapestFuncs) {
    SearchHarness h(test::stencil_graph(1024));
    const SearchStatePtr best = walk(h, {false, true, false});
    const std::vector<double> costs = cost_per_func(h.graph, *best->costs);
    int cheapest = 0;
    for (int f = 1; f < 3; f++) {
        if (costs[static_cast<size_t>(f)] < costs[static_cast<size_t>(cheapest)]) {
            cheapest = f;
        }
    }
    const FrozenDecisions frozen(h.graph, *best);
    int num_frozen = 0;
    for (int f = 0; f < 3; f++) {
        num_frozen += frozen.is_inlined(f) || frozen.root_nests(f) != nullptr ? 1 : 0;
    }
    EXPECT_EQ(num_frozen, 1);
    EXPECT_TRUE(frozen.is_inlined(cheapest) || frozen.root_nests(cheapest) != nullptr);
}

TEST(FrozenDecisions, RootNestsCarryNothingInlined) {
    SearchHarness h(test::harris_graph(256, 128));
    std::vector<bool> inlined(13);
    inlined[1] = inlined[2] = true;  // trace and det, into output
    const SearchStatePtr best = walk(h, inlined);
    const FrozenDecisions frozen(h.graph, *best);
    int num_root = 0;
    for (const FuncNode &func : h.graph.funcs) {
        const std::vector<LoopNestPtr> *nests = frozen.root_nests(func.id);
        if (nests == nullptr) {
            continue;
        }
        num_root++;
        EXPECT_FALSE(inlined[static_cast<size_t>(func.id)]);
        for (const LoopNestPtr &nest : *nests) {
            EXPECT_EQ(nest->func, func.id);
            EXPECT_EQ(nest->axis, GpuAxis::Block);
            EXPECT_FALSE(nest->computes(1) || nest->computes(2));
        }
    }
    // 12 - log2(12) = 8.4 Funcs are frozen, at most two of them inlined.
    EXPECT_GE(num_root, 6);
    EXPECT_LE(num_root, 8);
}

TEST(FrozenDecisions, ThawedFuncsAreFreeAgain) {
    SearchHarness h(test::harris_graph(256, 128));
    std::vector<bool> inlined(13);
    inlined[1] = inlined[2] = true;
    FrozenDecisions frozen(h.graph, *walk(h, inlined));
    for (const FuncNode &func : h.graph.funcs) {
        frozen.thaw(func.id);
        EXPECT_FALSE(frozen.is_inlined(func.id));
        EXPECT_EQ(frozen.root_nests(func.id), nullptr);
    }
}

TEST(FrozenDecisions, NothingByDefault) {
    const FrozenDecisions frozen;
    EXPECT_FALSE(frozen.is_inlined(0));
    EXPECT_EQ(frozen.root_nests(0), nullptr);
}

}  // namespace
}  // namespace anderson2021
