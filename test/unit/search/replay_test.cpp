#include <gtest/gtest.h>
#include <vector>

#include "search/beam_pass.h"
#include "search/replay.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

SearchStatePtr state_with(SearchStatePtr state, int num_decisions) {
    while (state->num_decisions > num_decisions) {
        state = state->parent;
    }
    return state;
}

// From any point of its own history a schedule comes out again.
TEST(Replay, RepeatsTheExampleFromAnyOfItsStates) {
    for (uint32_t seed = 0; seed < 6; seed++) {
        test::SearchHarness h(test::random_graph(seed));
        const SearchStatePtr best = BeamPass(h.context, h.settings, {}).run().best;
        ASSERT_NE(best, nullptr);
        Replay replay(h.context, h.settings, best);
        for (int kept = 0; kept < best->num_decisions; kept++) {
            const SearchStatePtr again = replay.complete(state_with(best, kept));
            ASSERT_NE(again, nullptr);
            EXPECT_TRUE(again->tree->same_structure(*best->tree)) << "after " << kept;
            EXPECT_EQ(again->cost(), best->cost());
        }
    }
}

// From elsewhere a complete schedule comes out, with the costs of its tree.
TEST(Replay, CompletesOtherSchedules) {
    for (uint32_t seed = 0; seed < 6; seed++) {
        test::SearchHarness h(test::random_graph(seed));
        const SearchStatePtr best = BeamPass(h.context, h.settings, {}).run().best;
        Replay replay(h.context, h.settings, best);
        const SearchStatePtr first = h.successors(h.initial_state())[0];
        int num_completed = 0;
        for (const SearchStatePtr &second : h.successors(first)) {
            const SearchStatePtr done = replay.complete(second);
            if (done == nullptr) {
                continue;
            }
            num_completed++;
            EXPECT_EQ(done->num_decisions, 2 * h.graph.num_funcs());
            const Evaluation fresh = h.evaluator.evaluate_afresh({done->tree, done->always_inline});
            ASSERT_TRUE(fresh.accepted());
            EXPECT_EQ(fresh.costs->total, done->cost());
        }
        EXPECT_GT(num_completed, 0);
    }
}

TEST(Replay, CompletesManySchedulesAsItDoesEachOfThem) {
    test::SearchHarness h(test::random_graph(3));
    const SearchStatePtr best = BeamPass(h.context, h.settings, {}).run().best;
    Replay replay(h.context, h.settings, best);
    const std::vector<SearchStatePtr> starts = h.successors(h.successors(h.initial_state())[0]);
    ASSERT_GT(starts.size(), 1u);
    std::vector<SearchStatePtr> together = starts;
    together.insert(together.begin(), nullptr);
    replay.complete_all(together);
    EXPECT_EQ(together[0], nullptr);
    for (size_t i = 0; i < starts.size(); i++) {
        const SearchStatePtr alone = replay.complete(starts[i]);
        ASSERT_EQ(together[i + 1] == nullptr, alone == nullptr);
        if (alone != nullptr) {
            EXPECT_TRUE(together[i + 1]->tree->same_structure(*alone->tree));
            EXPECT_EQ(together[i + 1]->cost(), alone->cost());
        }
    }
}

}  // namespace
}  // namespace anderson2021
