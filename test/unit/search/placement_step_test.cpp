#include <gtest/gtest.h>

#include "schedule/nest_verifier.h"
#include "search/placement_step.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

using test::at;
using test::GraphBuilder;
using test::SearchHarness;

// h(x) = g(x), g(x) = f(x), f(x) = x * x; with `stencil` g(x) = f(x-1) + f(x) + f(x+1).
PipelineGraph chain(bool stencil) {
    GraphBuilder b;
    b.func("h", {"x"}).output({1000}).pointwise().reads("g", {at("x")});
    b.func("g", {"x"});
    stencil ? b.reads("f", {at("x", -1, 1)}, 3) : b.pointwise().reads("f", {at("x")});
    b.func("f", {"x"}).pointwise();
    return b.build();
}

// The state after h was placed at the root and tiled.
SearchStatePtr h_tiled(SearchHarness &h) {
    return h.successors(h.successors(h.initial_state())[0])[0];
}

TEST(PlacementStep, PointwiseFuncsAreAlwaysConsideredForInlining) {
    SearchHarness h(chain(false));
    ASSERT_EQ(h.graph.find_func("h"), 0);
    ASSERT_EQ(h.graph.find_func("g"), 1);
    ASSERT_EQ(h.graph.find_func("f"), 2);
    const SearchStatePtr state = h_tiled(h);
    EXPECT_FALSE(state->always_inline->contains(1));
    const std::vector<SearchStatePtr> next = h.successors(state);
    ASSERT_FALSE(next.empty());
    for (const SearchStatePtr &s : next) {
        EXPECT_TRUE(s->always_inline->contains(1));
        EXPECT_FALSE(s->always_inline->contains(0));
    }
    EXPECT_FALSE(state->always_inline->contains(1));
}

TEST(PlacementStep, OnlyInliningWhereItDominates) {
    SearchHarness h(chain(false));
    const std::vector<SearchStatePtr> next = h.successors(h_tiled(h));
    ASSERT_EQ(next.size(), 1u);
    EXPECT_EQ(next[0]->tree->children.size(), 1u);
    EXPECT_TRUE(next[0]->tree->computes(1));
}

TEST(PlacementStep, InliningComesFirstOtherwise) {
    SearchHarness h(chain(true));
    const std::vector<SearchStatePtr> next = h.successors(h_tiled(h));
    ASSERT_GT(next.size(), 1u);
    EXPECT_EQ(next[0]->tree->children.size(), 1u);
    EXPECT_EQ(next[0]->tree->children[0]->store_set_with_descendants().size(), 0u);
    EXPECT_EQ(next[1]->tree->children.size(), 2u);
}

TEST(PlacementStep, ParentsDoNotInfluenceEachOther) {
    SearchHarness h(test::harris_graph(512, 256));
    const std::vector<SearchStatePtr> tiled = h.successors(h.successors(h.initial_state())[0]);
    const std::vector<SearchStatePtr> parents(tiled.begin(), tiled.begin() + 5);
    const std::vector<Placements> together = PlacementStep(h.context, h.settings, 1).run(parents);
    for (size_t i = 0; i < parents.size(); i++) {
        const Placements alone = PlacementStep(h.context, h.settings, 1).run({parents[i]})[0];
        ASSERT_EQ(alone.placed.size(), together[i].placed.size());
        for (size_t k = 0; k < alone.placed.size(); k++) {
            EXPECT_TRUE(alone.placed[k].tree->same_structure(*together[i].placed[k].tree));
            EXPECT_EQ(alone.placed[k].costs->total, together[i].placed[k].costs->total);
        }
    }
}

// Successors are looked at by rank, and no further than to the first rank with legal ones.
TEST(PlacementStep, OnlyTheClosestRankIsEvaluated) {
    SearchHarness h(chain(true));
    const SearchStatePtr parent = h_tiled(h);
    h.successors(parent);
    const int g = next_func(parent->num_decisions + 2);
    SearchStatePtr at_g = parent;
    while (next_func(at_g->num_decisions) != g || next_is_tiling(at_g->num_decisions)) {
        at_g = h.successors(at_g)[0];
    }
    h.settings.moves.inlining = false;
    const std::vector<Placements::Placed> all =
        PlacementStep(h.context, h.settings, g).run({at_g})[0].placed;
    ASSERT_GT(all.size(), 2u);
    for (const Placements::Placed &wanted : {all.front(), all.back()}) {
        PlacementStep step(h.context, h.settings, g);
        step.rank_by(
            [&](const LoopNest &tree) { return tree.same_structure(*wanted.tree) ? 1 : 2; });
        const Placements found = step.run({at_g})[0];
        ASSERT_EQ(found.placed.size(), 1u);
        EXPECT_TRUE(found.placed[0].tree->same_structure(*wanted.tree));
        EXPECT_EQ(found.placed[0].costs->total, wanted.costs->total);
    }
    PlacementStep step(h.context, h.settings, g);
    step.rank_by([](const LoopNest &) { return PlacementStep::kMaxRank; });
    EXPECT_EQ(step.run({at_g})[0].placed.size(), all.size());
}

TEST(PlacementStep, FrozenFuncsHaveOneSuccessor) {
    SearchHarness h(test::harris_graph(512, 256));
    // The pre-pass: a greedy descent without fusion.
    h.settings.moves = h.settings.moves.without_fusion();
    SearchStatePtr best = h.initial_state();
    while (best->num_decisions < 2 * h.graph.num_funcs()) {
        best = h.successors(best).back();
    }
    h.settings.frozen = FrozenDecisions(h.graph, *best);
    h.settings.moves = SpaceOptions::from(h.options);
    int num_frozen = 0;
    SearchStatePtr state = h.initial_state();
    while (state->num_decisions < 2 * h.graph.num_funcs()) {
        const std::vector<SearchStatePtr> next = h.successors(state);
        ASSERT_FALSE(next.empty());
        const int func = next_func(state->num_decisions);
        if (h.settings.frozen.root_nests(func) != nullptr) {
            num_frozen++;
            EXPECT_EQ(next.size(), 1u);
            EXPECT_EQ(next[0]->tree->children.back()->axis, GpuAxis::Block);
        }
        state = next.front();
    }
    EXPECT_EQ(num_frozen, 2 * 8);
}

// Whatever the moves make is a sound tree, at every step of random descents.
TEST(PlacementStep, SuccessorsAreSound) {
    Rng rng(3);
    int64_t checked = 0;
    for (uint32_t seed = 0; seed < 20; seed++) {
        Options options = test::test_options();
        options.parallelism = seed % 3 == 0 ? 1 : 16;
        options.disable_subtiling = seed % 5 == 0 ? 1 : 0;
        SearchHarness h(test::random_graph(seed), options);
        SearchStatePtr state = h.initial_state();
        while (state->num_decisions < 2 * h.graph.num_funcs()) {
            const std::vector<SearchStatePtr> next = h.successors(state);
            if (next.empty()) {
                break;
            }
            for (const SearchStatePtr &s : next) {
                const auto fault = verify_schedule(*s->tree, h.graph, h.device);
                ASSERT_FALSE(fault) << *fault;
                checked++;
            }
            state = next[rng.below(static_cast<uint32_t>(next.size()))];
        }
    }
    EXPECT_GT(checked, 1000);
}

TEST(PlacementStep, SampledModeTakesALogarithmOfEachGroup) {
    Options options = test::test_options();
    const auto num_tilings = [&](int64_t randomize, int pass) {
        options.randomize_tilings = randomize;
        SearchHarness h(test::harris_graph(512, 256), options);
        h.settings.index = pass;
        return h.successors(h.successors(h.initial_state())[0]).size();
    };
    const size_t all = num_tilings(0, 0);
    // In the pre-pass everything is one group.
    size_t log = 0;
    for (size_t rest = all; rest > 1; rest /= 2) {
        log++;
    }
    EXPECT_GE(num_tilings(1, -1), log);
    EXPECT_LE(num_tilings(1, -1), log + 1);
    EXPECT_LT(num_tilings(1, 0), all / 4);
    EXPECT_GE(num_tilings(1, 2), num_tilings(1, 0));
}

}  // namespace
}  // namespace anderson2021
