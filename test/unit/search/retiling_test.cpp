#include <gtest/gtest.h>

#include "search/beam_pass.h"
#include "search/retiling.h"
#include "search/tiling_step.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

// The dearest tiling of a lone Func is replaced by the cheapest one.
TEST(Retiling, FindsTheCheapestTilingOfALoneFunc) {
    test::GraphBuilder b;
    b.func("f", {"x", "y"}).output({2048, 2048}, false).pointwise();
    test::SearchHarness h(b.build());
    const SearchStatePtr placed = h.successors(h.initial_state())[0];
    const std::vector<SearchStatePtr> tiled = h.successors(placed);
    ASSERT_GT(tiled.size(), 100u);
    const SearchStatePtr better = retile(h.context, h.settings, tiled.back(), 0);
    ASSERT_NE(better, nullptr);
    EXPECT_EQ(better->cost(), tiled.front()->cost());
    EXPECT_EQ(better->num_decisions, 2);
    // Now there is nothing better.
    EXPECT_EQ(retile(h.context, h.settings, better, 0), nullptr);
}

// Whatever comes out is cheaper, complete, legal, and made of decisions.
TEST(Retiling, ImprovesGreedySchedules) {
    int num_better = 0;
    for (uint32_t seed = 0; seed < 12; seed++) {
        Options options = test::test_options();
        options.beam_size = 1;
        test::SearchHarness h(test::random_graph(seed), options);
        SearchStatePtr best = BeamPass(h.context, h.settings, {}).run().best;
        ASSERT_NE(best, nullptr);
        for (const FuncNode &func : h.graph.funcs) {
            if (func.is_input) {
                continue;
            }
            const SearchStatePtr better = retile(h.context, h.settings, best, func.id);
            if (better == nullptr) {
                continue;
            }
            num_better++;
            EXPECT_LT(better->cost(), best->cost());
            const Evaluation fresh =
                h.evaluator.evaluate_afresh({better->tree, better->always_inline});
            ASSERT_TRUE(fresh.accepted());
            EXPECT_EQ(fresh.costs->total, better->cost());
            int num_states = 0;
            for (const SearchState *s = better.get(); s != nullptr; s = s->parent.get()) {
                num_states++;
            }
            EXPECT_EQ(num_states, better->num_decisions + 1);
            best = better;
        }
    }
    EXPECT_GT(num_better, 0);
}

bool has_fused_funcs(const LoopNest &root, int func) {
    for (const LoopNestPtr &child : root.children) {
        if (child->func == func && !child->stored_below().empty()) {
            return true;
        }
    }
    return false;
}

// Blocks of other sizes come with the same Funcs at the same places.
TEST(Retiling, ResizesBlocksWithFusedFuncs) {
    int num_better = 0;
    for (uint32_t seed = 0; seed < 40; seed++) {
        Options options = test::test_options();
        options.beam_size = 1;
        test::SearchHarness h(test::random_graph(seed), options);
        h.settings.moves.inlining = false;
        const SearchStatePtr best = BeamPass(h.context, h.settings, {}).run().best;
        if (best == nullptr) {
            continue;
        }
        for (const FuncNode &func : h.graph.funcs) {
            const std::vector<SearchStatePtr> found =
                retile_fused(h.context, h.settings, best, func.id, 16);
            EXPECT_TRUE(found.empty() || has_fused_funcs(*best->tree, func.id));
            for (const SearchStatePtr &better : found) {
                num_better++;
                EXPECT_LT(better->cost(), best->cost());
                EXPECT_EQ(better->num_decisions, best->num_decisions);
                const Evaluation fresh =
                    h.evaluator.evaluate_afresh({better->tree, better->always_inline});
                ASSERT_TRUE(fresh.accepted());
                EXPECT_EQ(fresh.costs->total, better->cost());
            }
        }
    }
    EXPECT_GT(num_better, 0);
}

}  // namespace
}  // namespace anderson2021
