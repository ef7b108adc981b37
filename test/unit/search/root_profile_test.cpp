// The claim behind root profiles: tiling a root Func changes nothing but its own costs, and those
// depend on the other Funcs only through the bytes stored in the whole program.
#include <gtest/gtest.h>

#include "search/root_profile.h"
#include "search/tiling_step.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

using test::SearchHarness;

// Every tiled successor of `state` must cost what its tree costs, to the last bit.
void expect_separable(SearchHarness &h, const std::vector<SearchStatePtr> &successors) {
    for (const SearchStatePtr &state : successors) {
        const Evaluation fresh = h.evaluator.evaluate_afresh({state->tree, state->always_inline});
        ASSERT_TRUE(fresh.accepted()) << fresh.rejection->rule;
        ASSERT_EQ(state->costs->per_stage, fresh.costs->per_stage);
        ASSERT_EQ(state->costs->total, fresh.costs->total);
        ASSERT_EQ(state->costs->root_working_set, fresh.costs->root_working_set);
    }
}

// Random descents; at each tiling step all successors of the state are compared. Later descents
// reuse the profiles that the first one made in another context. Returns how many were compared.
int64_t compare_along_descents(PipelineGraph graph, const Options &options, int num_descents) {
    SearchHarness h(std::move(graph), options);
    Rng rng(11);
    int64_t compared = 0;
    for (int i = 0; i < num_descents; i++) {
        SearchStatePtr state = h.initial_state();
        while (state->num_decisions < 2 * h.graph.num_funcs()) {
            const std::vector<SearchStatePtr> next = h.successors(state);
            if (next.empty()) {
                break;  // A dead end: fine for a random walk.
            }
            const int func = next_func(state->num_decisions);
            if (next_is_tiling(state->num_decisions) &&
                TilingStep::needs_tiling(h.graph, *state->tree, func)) {
                expect_separable(h, next);
                compared += static_cast<int64_t>(next.size());
            }
            state = next[rng.below(static_cast<uint32_t>(next.size()))];
        }
    }
    return compared;
}

TEST(RootProfile, TilingIsSeparableOnKnownPipelines) {
    const Options options = test::test_options();
    EXPECT_GT(compare_along_descents(test::harris_graph(), options, 3), 1000);
    EXPECT_GT(compare_along_descents(test::mat_mul_graph(), options, 4), 500);
    EXPECT_GT(compare_along_descents(test::stencil_graph(), options, 6), 20);
    EXPECT_GT(compare_along_descents(test::histogram_graph(), options, 2), 1);
}

TEST(RootProfile, TilingIsSeparableOnRandomPipelines) {
    Options options = test::test_options();
    int64_t compared = 0;
    for (uint32_t seed = 0; seed < 12; seed++) {
        options.parallelism = seed % 2 == 0 ? 80 : 1;
        compared += compare_along_descents(test::random_graph(seed), options, 3);
    }
    EXPECT_GT(compared, 3000);
}

TEST(RootProfile, TilingIsSeparableWithTheReferencesStoreSets) {
    Options options = test::test_options();
    options.reference_features = 1;
    EXPECT_GT(compare_along_descents(test::harris_graph(), options, 2), 500);
    for (uint32_t seed = 0; seed < 4; seed++) {
        EXPECT_GE(compare_along_descents(test::random_graph(seed), options, 2), 1);
    }
}

// Numbers of a Func of one stage, f(x, ...) = x + ..., as worked out for the reference: tilings
// looked at and tilings that survive.
struct Counts {
    std::vector<int64_t> extents;
    int64_t parallelism;
    int64_t generated;
    size_t accepted;
};

class TilingCounts : public ::testing::TestWithParam<Counts> {};

TEST_P(TilingCounts, AreThoseOfTheReference) {
    const Counts &counts = GetParam();
    std::vector<std::string> args;
    for (size_t d = 0; d < counts.extents.size(); d++) {
        args.push_back("x" + std::to_string(d));
    }
    test::GraphBuilder b;
    b.func("f", args).output(counts.extents, false).pointwise();
    Options options = test::test_options();
    options.parallelism = counts.parallelism;
    SearchHarness h(b.build(), options);
    const std::vector<SearchStatePtr> placed = h.successors(h.initial_state());
    ASSERT_EQ(placed.size(), 1u);
    h.stats.tilings_generated = 0;
    EXPECT_EQ(h.successors(placed[0]).size(), counts.accepted);
    EXPECT_EQ(h.stats.tilings_generated, counts.generated);
}

INSTANTIATE_TEST_SUITE_P(RootProfile,
                         TilingCounts,
                         ::testing::Values(Counts{{2048, 2048}, 80, 225, 192},
                                           Counts{{2048, 2048}, 16, 240, 195},
                                           Counts{{1530, 2554}, 80, 235, 195},
                                           Counts{{1530, 2554}, 16, 240, 195},
                                           Counts{{1000, 1000}, 80, 177, 162},
                                           Counts{{1000, 1000}, 16, 239, 195},
                                           Counts{{10, 2048}, 80, 24, 23},
                                           Counts{{10, 2048}, 16, 76, 63},
                                           Counts{{256}, 80, 1, 1},
                                           Counts{{256}, 16, 10, 10},
                                           Counts{{100000}, 80, 34, 34},
                                           Counts{{100000}, 16, 35, 35},
                                           Counts{{96, 96, 3}, 80, 58, 53},
                                           Counts{{96, 96, 3}, 16, 225, 208},
                                           Counts{{1920, 1080, 3}, 80, 970, 606},
                                           Counts{{1920, 1080, 3}, 16, 1007, 606},
                                           Counts{{3, 5}, 80, 1, 1},
                                           Counts{{3, 5}, 16, 1, 1},
                                           Counts{{8, 9, 10, 5, 3, 2, 6}, 80, 6860, 2659},
                                           Counts{{8, 9, 10, 5, 3, 2, 6}, 16, 18752, 3850}));

TEST(RootProfile, ExtentsOfOneGiveOneBlockOfOneThread) {
    test::GraphBuilder b;
    b.func("f", {"x", "y"}).output({1, 1}).pointwise();
    SearchHarness h(b.build());
    const std::vector<SearchStatePtr> tiled = h.successors(h.successors(h.initial_state())[0]);
    ASSERT_EQ(tiled.size(), 1u);
    const LoopNest &block = *tiled[0]->tree->children[0];
    EXPECT_EQ(block.axis, GpuAxis::Block);
    EXPECT_EQ(block.iterations(), 1);
    EXPECT_EQ(block.children[0]->axis, GpuAxis::Thread);
    EXPECT_EQ(block.children[0]->iterations(), 1);
}

}  // namespace
}  // namespace anderson2021
