#include <gtest/gtest.h>
#include <utility>

#include "search/beam_pass.h"
#include "search/depth_hash.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

using test::SearchHarness;

PassOutcome run_pass(SearchHarness &h, const PermittedHashes &permitted = {}) {
    return BeamPass(h.context, h.settings, permitted).run();
}

TEST(BeamPass, ReturnsACompleteState) {
    SearchHarness h(test::harris_graph(512, 256));
    h.settings.num_passes = 5;
    const PassOutcome outcome = run_pass(h);
    ASSERT_NE(outcome.best, nullptr);
    EXPECT_EQ(outcome.best->num_decisions, 2 * h.graph.num_funcs());
    EXPECT_FALSE(outcome.exhaustive);
    EXPECT_EQ(outcome.stuck_func, -1);
    // Every step of the way is on record.
    int length = 0;
    for (const SearchState *s = outcome.best.get(); s != nullptr; s = s->parent.get()) {
        EXPECT_EQ(s->num_decisions, outcome.best->num_decisions - length);
        length++;
    }
    EXPECT_EQ(length, 2 * h.graph.num_funcs() + 1);
}

TEST(BeamPass, BlessesTheWayToTheBestState) {
    SearchHarness h(test::harris_graph(512, 256));
    h.settings.num_passes = 5;
    for (const int index : {0, 1, 3}) {
        h.settings.index = index;
        const PassOutcome outcome = run_pass(h);
        for (const SearchState *s = outcome.best.get(); s != nullptr; s = s->parent.get()) {
            EXPECT_EQ(outcome.permitted.count(depth_hash(*s->tree, s->num_decisions, index)), 1u);
        }
    }
    // Nobody reads what the last pass permits.
    h.settings.index = 4;
    EXPECT_TRUE(run_pass(h).permitted.empty());
    h.settings.index = -1;
    EXPECT_TRUE(run_pass(h).permitted.empty());
}

TEST(BeamPass, PermittedStructuresSteerIt) {
    SearchHarness h(test::harris_graph(512, 256));
    h.settings.num_passes = 5;
    const PermittedHashes permitted = run_pass(h).permitted;
    h.settings.index = 1;
    const PassOutcome steered = run_pass(h, permitted);
    // The best state refines a structure that was good in the first pass.
    EXPECT_EQ(permitted.count(depth_hash(*steered.best->tree, steered.best->num_decisions, 0)), 1u);
}

// Penalties are about the order in which states are taken, never about their costs.
TEST(BeamPass, CostsAreFreeOfPenalties) {
    for (uint32_t seed = 0; seed < 6; seed++) {
        SearchHarness h(test::random_graph(seed));
        h.settings.num_passes = 5;
        h.settings.index = 2;
        const PassOutcome outcome = run_pass(h);
        for (const SearchState *s = outcome.best.get(); s->num_decisions > 0; s = s->parent.get()) {
            const Evaluation fresh = h.evaluator.evaluate_afresh({s->tree, s->always_inline});
            ASSERT_TRUE(fresh.accepted());
            EXPECT_EQ(fresh.costs->total, s->cost());
        }
    }
}

TEST(BeamPass, ABeamOfOneIsGreedy) {
    Options options = test::test_options();
    options.beam_size = 1;
    SearchHarness h(test::harris_graph(512, 256), options);
    const PassOutcome outcome = run_pass(h);
    std::vector<const SearchState *> way;
    for (const SearchState *s = outcome.best.get(); s != nullptr; s = s->parent.get()) {
        way.push_back(s);
    }
    for (size_t i = 0; i + 1 < way.size(); i++) {
        const SearchStatePtr parent = way[i]->parent;
        for (const SearchStatePtr &other : h.successors(parent)) {
            EXPECT_GE(other->cost(), way[i]->cost());
        }
    }
}

TEST(BeamPass, KeepsTheDecisionsOfItsStart) {
    SearchHarness h(test::harris_graph(512, 256));
    h.settings.num_passes = 5;
    const SearchStatePtr tiled = h.successors(h.successors(h.initial_state())[0])[3];
    const SearchStatePtr start = h.successors(tiled).back();
    const PassOutcome outcome = BeamPass(h.context, h.settings, {}).run_from(start);
    const SearchState *s = outcome.best.get();
    while (s->num_decisions > start->num_decisions) {
        s = s->parent.get();
    }
    EXPECT_EQ(s, start.get());
}

TEST(BeamPass, EagerInliningLeavesNoChoice) {
    SearchHarness h(test::stencil_graph());
    h.settings.num_passes = 5;
    h.settings.eager_inlining = true;
    // f is pointwise and has one reader, a stencil.
    ASSERT_TRUE(h.graph.func(2).is_pointwise);
    const PassOutcome outcome = run_pass(h);
    EXPECT_TRUE(outcome.best->tree->computes(2));
    for (const LoopNestPtr &task : outcome.best->tree->children) {
        EXPECT_NE(task->func, 2);
        for (const int stored : task->store_set_with_descendants()) {
            EXPECT_NE(stored, 2);
        }
    }
}

TEST(BeamPass, SaysWhereItGotStuck) {
    Options options = test::test_options();
    options.search_space_options = "0010";
    SearchHarness h(test::harris_graph(512, 256), options);
    const PassOutcome outcome = run_pass(h);
    EXPECT_EQ(outcome.best, nullptr);
    // Inlined everywhere, Iy is computed 18 times per point.
    EXPECT_EQ(outcome.stuck_func, h.graph.find_func("Iy"));
    ASSERT_FALSE(outcome.rejections.empty());
    EXPECT_STREQ(outcome.rejections.lines()[0].example.rule, "recompute");
}

TEST(BeamPass, DropoutIsReproducible) {
    Options options = test::test_options();
    options.random_dropout = 1;
    options.beam_size = 4;
    std::vector<double> costs;
    for (const int64_t seed : {3, 3, 4}) {
        options.random_dropout_seed = seed;
        SearchHarness h(test::harris_graph(512, 256), options);
        costs.push_back(run_pass(h).best->cost());
    }
    EXPECT_EQ(costs[0], costs[1]);
    EXPECT_NE(costs[0], costs[2]);
}

TEST(BeamPass, ANarrowBeamIsHalfAsWide) {
    Options halved = test::test_options();
    halved.beam_size /= 2;
    SearchHarness expected(test::harris_graph(512, 256), halved);
    SearchHarness narrow(test::harris_graph(512, 256));
    narrow.settings.narrow_beam = true;
    const PassOutcome a = run_pass(expected), b = run_pass(narrow);
    EXPECT_EQ(a.best->cost(), b.best->cost());
    EXPECT_EQ(expected.stats.states_added, narrow.stats.states_added);
    Options one = test::test_options();
    one.beam_size = 1;
    SearchHarness greedy(test::harris_graph(512, 256), one);
    greedy.settings.narrow_beam = true;
    EXPECT_NE(run_pass(greedy).best, nullptr);
}

}  // namespace
}  // namespace anderson2021
