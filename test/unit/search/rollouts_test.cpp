#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "search/beam_pass.h"
#include "search/rollouts.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

Options greedy() {
    Options options = test::test_options();
    options.beam_size = 1;
    return options;
}

// Complete schedules come out, with the costs of their trees, and the cheapest is remembered.
TEST(Rollouts, CompleteSchedulesAndKeepTheBest) {
    for (uint32_t seed = 0; seed < 6; seed++) {
        test::SearchHarness h(test::random_graph(seed), greedy());
        const SearchStatePtr first = BeamPass(h.context, h.settings, {}).run().best;
        ASSERT_NE(first, nullptr);
        Rollouts rollouts(h.context, h.settings, first);
        EXPECT_EQ(rollouts.best(), first);
        double least = first->cost();
        for (const SearchStatePtr &done :
             rollouts.complete(h.successors(h.successors(h.initial_state())[0]))) {
            if (done == nullptr) {
                continue;
            }
            EXPECT_EQ(done->num_decisions, first->num_decisions);
            const Evaluation fresh = h.evaluator.evaluate_afresh({done->tree, done->always_inline});
            ASSERT_TRUE(fresh.accepted());
            EXPECT_EQ(fresh.costs->total, done->cost());
            least = std::min(least, done->cost());
        }
        EXPECT_EQ(rollouts.best()->cost(), least);
    }
}

// What a schedule becomes is known to the next step, and need not be found out again.
TEST(Rollouts, RememberTheWay) {
    test::SearchHarness h(test::random_graph(1), greedy());
    const SearchStatePtr best = BeamPass(h.context, h.settings, {}).run().best;
    Rollouts rollouts(h.context, h.settings, best);
    const SearchStatePtr start = h.successors(h.initial_state()).back();
    const SearchStatePtr done = rollouts.complete({start})[0];
    ASSERT_NE(done, nullptr);
    SearchStatePtr next = done;
    while (next->num_decisions > start->num_decisions + 1) {
        next = next->parent;
    }
    EXPECT_EQ(rollouts.complete({next})[0], done);
}

// The quarter of the beam that rollouts complete best goes on; what it finds is legal, and often
// better than what the cost so far leads to.
TEST(Rollouts, GuideABeam) {
    int num_better = 0;
    for (uint32_t seed = 0; seed < 12; seed++) {
        test::SearchHarness h(test::random_graph(seed));
        PassSettings narrow = h.settings;
        narrow.narrow_beam = true;
        const SearchStatePtr start = BeamPass(h.context, narrow, {}).run().best;
        ASSERT_NE(start, nullptr);
        Rollouts rollouts(h.context, h.settings, start);
        const SearchStatePtr found =
            BeamPass(h.context, h.settings, {}).run_by_rollouts(rollouts).best;
        ASSERT_NE(found, nullptr);
        EXPECT_LE(rollouts.best()->cost(), start->cost());
        for (const SearchStatePtr &state : {found, rollouts.best()}) {
            const Evaluation fresh =
                h.evaluator.evaluate_afresh({state->tree, state->always_inline});
            ASSERT_TRUE(fresh.accepted());
            EXPECT_EQ(fresh.costs->total, state->cost());
        }
        num_better += rollouts.best()->cost() < start->cost() ? 1 : 0;
    }
    EXPECT_GT(num_better, 0);
}

}  // namespace
}  // namespace anderson2021
