#include <algorithm>
#include <gtest/gtest.h>

#include "search/alternatives.h"
#include "search/beam_pass.h"
#include "search/search.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

using test::SearchHarness;

SearchStatePtr best_of(SearchHarness &h) {
    return BeamPass(h.context, h.settings, {}).run().best;
}

TEST(FuncPlace, TellsWhereFuncsAre) {
    SearchHarness h(test::harris_graph(512, 256));
    const SearchStatePtr best = best_of(h);
    for (const FuncNode &func : h.graph.funcs) {
        if (func.is_input) {
            continue;
        }
        const FuncPlace place = place_of(*best->tree, func.id);
        const auto &at_root = best->tree->store_set();
        const bool is_at_root = std::count(at_root.begin(), at_root.end(), func.id) > 0;
        EXPECT_EQ(place.kind == FuncPlace::Kind::Root, is_at_root) << func.name;
        EXPECT_EQ(place.kind != FuncPlace::Kind::Inlined,
                  best->tree->stored_below().contains(func.id))
            << func.name;
        EXPECT_EQ(place.inside >= 0, !is_at_root && place.kind != FuncPlace::Kind::Inlined);
    }
}

TEST(Alternatives, ComeWithTheChosenPlaceAndHonestCosts) {
    SearchHarness h(test::harris_graph(512, 256));
    const SearchStatePtr best = best_of(h);
    const std::vector<FuncAlternatives> all = find_alternatives(h.context, h.settings, best);
    ASSERT_EQ(all.size(), 12u);
    size_t num_others = 0;
    for (const FuncAlternatives &func : all) {
        int num_chosen = 0;
        double last = 0;
        for (const Alternative &a : func.places) {
            EXPECT_GE(a.cost, last);
            last = a.cost;
            num_chosen += a.chosen ? 1 : 0;
            EXPECT_EQ(a.chosen, a.place == place_of(*best->tree, func.func));
            if (a.chosen) {
                EXPECT_EQ(a.cost, best->cost());
            }
        }
        EXPECT_EQ(num_chosen, 1);
        num_others += func.places.size() - 1;
    }
    EXPECT_GE(num_others, 12u);
}

TEST(Alternatives, RivalsAreCompleteSchedulesWithTheFuncInItsPlace) {
    SearchHarness h(test::harris_graph(512, 256));
    const SearchStatePtr best = best_of(h);
    const int func = h.graph.find_func("Ix");
    SearchStatePtr parent = best;
    while (parent->num_decisions > 2 * func) {
        parent = parent->parent;
    }
    RivalEffort effort;
    effort.tries_per_place = 2;
    effort.promising_only = false;
    const std::vector<Rival> thorough = find_rivals(h.context, h.settings, best, parent, effort);
    EXPECT_GE(thorough.size(), 2u);
    for (const Rival &rival : thorough) {
        EXPECT_EQ(rival.state->num_decisions, best->num_decisions);
        EXPECT_TRUE(place_of(*rival.state->tree, func) == rival.place);
        const Evaluation fresh =
            h.evaluator.evaluate_afresh({rival.state->tree, rival.state->always_inline});
        ASSERT_TRUE(fresh.accepted());
        EXPECT_EQ(fresh.costs->total, rival.state->cost());
    }
    // What does not look promising is dropped, the place of the best schedule never is.
    effort.promising_only = true;
    const std::vector<Rival> promising = find_rivals(h.context, h.settings, best, parent, effort);
    EXPECT_LE(promising.size(), thorough.size());
    const FuncPlace chosen = place_of(*best->tree, func);
    EXPECT_TRUE(std::any_of(
        promising.begin(), promising.end(), [&](const Rival &r) { return r.place == chosen; }));
}

// A search ends where moving a single Func does not help.
TEST(Alternatives, AreNoBetterThanTheResultOfASearch) {
    for (const uint32_t seed : {0u, 1u}) {
        Options options = test::test_options();
        options.record_path = "set";  // asks for the alternatives; nothing is written here
        options.beam_size = 8;
        const PipelineGraph graph = test::harris_graph(512, 256);
        const SearchResult result = test::run_search(graph, options, seed);
        ASSERT_EQ(result.alternatives.size(), 12u);
        for (const FuncAlternatives &func : result.alternatives) {
            EXPECT_EQ(func.places.front().cost, result.cost) << graph.func(func.func).name;
        }
        ASSERT_FALSE(result.progress.empty());
        EXPECT_EQ(result.progress.back().best_cost, result.cost);
    }
}

}  // namespace
}  // namespace anderson2021
