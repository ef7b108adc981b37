// What a host is told while a search goes on.
#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "search/progress_meter.h"
#include "search/search.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

SearchResult
search_with(const PipelineGraph &graph, const Options &options, const SearchHooks &hooks) {
    RegionStore store(graph);
    GpuDevice device;
    device.num_sms = static_cast<int>(options.parallelism);
    const auto model = test::make_test_cost_model(graph, device.num_sms);
    return search(graph, store, device, options, *model, hooks);
}

SearchStatus status_of(ProgressMeter &meter, double elapsed_s = 10) {
    SearchStatus status;
    status.elapsed_s = elapsed_s;
    meter.describe(status);
    return status;
}

TEST(ProgressMeter, CountsStepsByWhatTheyWeigh) {
    ProgressMeter meter;
    meter.plan(1);
    meter.plan(1);
    meter.plan(2);
    EXPECT_EQ(status_of(meter).fraction, 0);
    meter.begin(1);
    meter.advance(0.5);
    EXPECT_EQ(status_of(meter).fraction, 0.125);
    EXPECT_EQ(status_of(meter).pass, 1);
    EXPECT_EQ(status_of(meter).passes, 3);
    // An eighth took ten seconds.
    EXPECT_EQ(status_of(meter).eta_s, 70);
    meter.begin(1);
    EXPECT_EQ(status_of(meter).fraction, 0.25);
    meter.begin_refinement(2);
    meter.advance(0.9);  // a search that is a part of the refinement
    EXPECT_EQ(status_of(meter).fraction, 0.5);
    meter.advance_refinement(0.5);
    EXPECT_EQ(status_of(meter).fraction, 0.75);
    meter.finish();
    EXPECT_EQ(status_of(meter).fraction, 1);
    EXPECT_EQ(status_of(meter).eta_s, 0);
}

TEST(ProgressMeter, StepsThatAreSkippedBringTheEndNearer) {
    ProgressMeter meter;
    for (int i = 0; i < 4; i++) {
        meter.plan(1);
    }
    meter.begin(1);
    meter.advance(1);
    EXPECT_EQ(status_of(meter).fraction, 0.25);
    meter.skip(2);
    EXPECT_EQ(status_of(meter).fraction, 0.5);
    EXPECT_EQ(status_of(meter).passes, 2);
    meter.skip(-1);
    EXPECT_EQ(status_of(meter).passes, 2);
}

TEST(ProgressMeter, NeverGoesBackAndDoesNotGuessTooEarly) {
    ProgressMeter meter;
    meter.plan(1);
    meter.begin(1);
    meter.advance(0.8);
    EXPECT_EQ(status_of(meter).fraction, 0.8);
    meter.begin(1);  // one more than planned
    EXPECT_EQ(status_of(meter).fraction, 0.8);
    EXPECT_EQ(status_of(meter).eta_s, 10);
    EXPECT_LT(status_of(meter, 0.01).eta_s, 0);
}

TEST(SearchProgress, IsReportedByOneThreadFromBeginningToEnd) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test::test_options();
    options.threads = 4;
    std::vector<SearchStatus> seen;
    SearchHooks hooks;
    hooks.progress = [&, caller = std::this_thread::get_id()](const SearchStatus &status) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        seen.push_back(status);
        return true;
    };
    const SearchResult result = search_with(graph, options, hooks);
    ASSERT_GT(seen.size(), 20u);
    EXPECT_LT(seen.front().fraction, 0.05);
    EXPECT_TRUE(std::isinf(seen.front().best_cost));
    for (size_t i = 1; i < seen.size(); i++) {
        EXPECT_GE(seen[i].fraction, seen[i - 1].fraction);
        EXPECT_GE(seen[i].states, seen[i - 1].states);
        EXPECT_GE(seen[i].elapsed_s, seen[i - 1].elapsed_s);
        EXPECT_GE(seen[i].pass, seen[i - 1].pass);
        EXPECT_LE(seen[i].best_cost, seen[i - 1].best_cost);
        EXPECT_LE(seen[i].pass, seen[i].passes);
    }
    EXPECT_EQ(seen.back().fraction, 1);
    EXPECT_EQ(seen.back().eta_s, 0);
    EXPECT_EQ(seen.back().best_cost, result.cost);
    EXPECT_EQ(seen.back().states, result.stats.states_added);
    EXPECT_EQ(seen.back().pass, seen.back().passes);
}

TEST(SearchProgress, LookingOnChangesNothing) {
    const PipelineGraph graph = test::random_graph(3);
    SearchHooks hooks;
    hooks.progress = [](const SearchStatus &) { return true; };
    const SearchResult watched = search_with(graph, test::test_options(), hooks);
    const SearchResult alone = search_with(graph, test::test_options(), {});
    EXPECT_TRUE(watched.best->same_structure(*alone.best));
    EXPECT_EQ(watched.cost, alone.cost);
    EXPECT_EQ(watched.stats.states_added, alone.stats.states_added);
}

TEST(SearchProgress, FalseEndsTheSearchWithWhatThereIs) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    for (const int calls : {1, 10, 30}) {
        int left = calls;
        SearchHooks hooks;
        // The last call, at the end, comes in any case.
        hooks.progress = [&](const SearchStatus &) { return --left > 0; };
        const SearchResult result = search_with(graph, test::test_options(), hooks);
        ASSERT_NE(result.best, nullptr);
        EXPECT_LE(left, 0);
        EXPECT_GE(left, -1);
        for (const FuncNode &func : graph.funcs) {
            EXPECT_TRUE(func.is_input || result.best->computes(func.id)) << func.name;
        }
    }
}

TEST(SearchProgress, ExceptionsLeaveTheSearch) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    int calls = 0;
    SearchHooks hooks;
    hooks.progress = [&](const SearchStatus &) -> bool {
        if (++calls == 7) {
            throw std::runtime_error("enough");
        }
        return true;
    };
    EXPECT_THROW(search_with(graph, test::test_options(), hooks), std::runtime_error);
    EXPECT_EQ(calls, 7);
}

TEST(SearchProgress, TheEstimateKeepsTheTimeLimit) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test::test_options();
    options.time_limit_s = 0.3;
    double latest = 0;
    SearchHooks hooks;
    hooks.progress = [&](const SearchStatus &status) {
        latest = std::max(latest, status.elapsed_s + status.eta_s);
        EXPECT_LE(status.eta_s, 0.3);
        return true;
    };
    search_with(graph, options, hooks);
    EXPECT_GT(latest, 0);
}

}  // namespace
}  // namespace anderson2021
