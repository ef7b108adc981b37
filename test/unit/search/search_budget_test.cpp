// Limits of time and memory, and cancellation.
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "schedule/nest_verifier.h"
#include "schedule/schedule_text.h"
#include "search/search.h"
#include "search/search_budget.h"
#include "search_fixture.h"
#include "support/log.h"

namespace anderson2021 {
namespace {

// What a search logs.
class Log {
public:
    Log() {
        set_log_sink([this](const std::string &text) { text_ += text + "\n"; });
        set_log_level(1);
    }
    ~Log() {
        set_log_level(0);
        set_log_sink(nullptr);
    }
    bool mentions(const std::string &words) const { return text_.find(words) != std::string::npos; }

private:
    std::string text_;
};

SearchResult
search_until(const PipelineGraph &graph, const Options &options, std::function<bool()> cancelled) {
    RegionStore store(graph);
    GpuDevice device;
    device.num_sms = static_cast<int>(options.parallelism);
    const auto model = test::make_test_cost_model(graph, device.num_sms);
    SearchHooks hooks;
    hooks.progress = [&](const SearchStatus &) { return !cancelled || !cancelled(); };
    return search(graph, store, device, options, *model, hooks);
}

void expect_legal(const PipelineGraph &graph, const SearchResult &result) {
    for (const FuncNode &func : graph.funcs) {
        EXPECT_TRUE(func.is_input || result.best->computes(func.id)) << func.name;
    }
    const auto fault = verify_schedule(*result.best, graph, GpuDevice());
    EXPECT_FALSE(fault) << *fault;
}

TEST(SearchBudget, WithoutLimitsNothingIsOver) {
    SearchBudget budget(test::test_options(), {});
    budget.note_schedule();
    EXPECT_FALSE(budget.is_over());
    EXPECT_FALSE(budget.can_stop());
    EXPECT_EQ(budget.beam_size(), 32);
}

TEST(SearchBudget, OnceOverItStaysOver) {
    bool cancelled = false;
    SearchBudget budget(test::test_options(), [&] { return cancelled; });
    EXPECT_FALSE(budget.is_over());
    cancelled = true;
    EXPECT_TRUE(budget.is_over());
    cancelled = false;
    EXPECT_TRUE(budget.is_over());
    // Until there is a schedule the search goes on, as fast as it can.
    EXPECT_FALSE(budget.can_stop());
    EXPECT_EQ(budget.beam_size(), 1);
    budget.note_schedule();
    EXPECT_TRUE(budget.can_stop());
}

TEST(SearchBudget, TheBeamShrinksWhileMemoryIsShort) {
    Options options = test::test_options();
    options.memory_limit_mb = 100;
    SearchBudget budget(options, {});
    budget.enforce_memory(size_t{50} << 20);
    EXPECT_EQ(budget.beam_size(), 32);
    budget.enforce_memory((size_t{50} << 20) + 1);
    EXPECT_EQ(budget.beam_size(), 16);
    for (int i = 0; i < 10; i++) {
        budget.enforce_memory(size_t{60} << 20);
    }
    EXPECT_EQ(budget.beam_size(), 1);
}

TEST(SearchBudget, ASearchCancelledAtOnceCompletesOneSchedule) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    const Log log;
    const SearchResult result = search_until(graph, test::test_options(), [] { return true; });
    expect_legal(graph, result);
    EXPECT_EQ(result.stats.passes, 1);
    EXPECT_EQ(result.stats.refinements, 0);
    EXPECT_TRUE(log.mentions("cancelled"));
    EXPECT_TRUE(log.mentions("completed without alternatives"));
    // It is what a beam of one finds.
    Options greedy = test::test_options();
    greedy.beam_size = 1;
    EXPECT_EQ(result.cost, test::run_search(graph, greedy).cost);
}

// Wherever a search is stopped, it has a legal schedule, and more time never makes it worse.
TEST(SearchBudget, ASearchCancelledLaterReturnsTheBestSoFar) {
    const PipelineGraph graph = test::random_graph(3);
    const double full = test::run_search(graph, test::test_options()).cost;
    double previous = 0;
    for (const int steps : {1, 5, 20, 60, 150, 400, 100000}) {
        int asked = 0;
        const SearchResult result =
            search_until(graph, test::test_options(), [&] { return ++asked > steps; });
        expect_legal(graph, result);
        if (steps >= 60) {
            EXPECT_TRUE(previous == 0 || result.cost <= previous) << steps;
            previous = result.cost;
        }
    }
    EXPECT_EQ(previous, full);
}

TEST(SearchBudget, TimeLimitEndsTheSearch) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test::test_options();
    options.time_limit_s = 1e-6;
    const Log log;
    const SearchResult result = test::run_search(graph, options);
    expect_legal(graph, result);
    EXPECT_EQ(result.stats.passes, 1);
    EXPECT_TRUE(log.mentions("time limit"));
}

TEST(SearchBudget, LittleMemoryGivesTheSameScheduleForAnyNumberOfThreads) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test::test_options();
    options.beam_size = 512;
    options.num_passes = 1;
    options.memory_limit_mb = 16;
    const Log log;
    options.threads = 1;
    const SearchResult one = test::run_search(graph, options);
    expect_legal(graph, one);
    EXPECT_TRUE(log.mentions("Memory is short"));
    options.threads = 3;
    const SearchResult three = test::run_search(graph, options);
    EXPECT_EQ(print_schedule(*one.best, graph), print_schedule(*three.best, graph));
    EXPECT_EQ(one.stats.states_added, three.stats.states_added);
    // With enough memory more candidates are looked at.
    options.memory_limit_mb = 4096;
    EXPECT_GT(test::run_search(graph, options).stats.states_added, one.stats.states_added);
}

TEST(TopK, SchedulesAreDifferentAndSortedByCost) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test::test_options();
    options.beam_size = 8;
    options.top_k = 10;
    const SearchResult result = test::run_search(graph, options);
    ASSERT_EQ(result.top.size(), 10u);
    EXPECT_EQ(result.top[0].cost, result.cost);
    EXPECT_TRUE(result.top[0].tree->same_structure(*result.best));
    for (size_t i = 1; i < result.top.size(); i++) {
        EXPECT_LE(result.top[i - 1].cost, result.top[i].cost);
        for (size_t j = 0; j < i; j++) {
            EXPECT_FALSE(result.top[i].tree->same_structure(*result.top[j].tree));
        }
        const auto fault = verify_schedule(*result.top[i].tree, graph, GpuDevice());
        EXPECT_FALSE(fault) << *fault;
    }
    // Asking for more changes nothing about the winner.
    options.top_k = 1;
    const SearchResult only = test::run_search(graph, options);
    EXPECT_EQ(only.cost, result.cost);
    ASSERT_EQ(only.top.size(), 1u);
}

TEST(TopK, GivesAllThereAreIfThereAreFewer) {
    test::GraphBuilder b;
    b.func("f", {"x"}).output({256}, false).pointwise();
    Options options = test::test_options();
    options.parallelism = 16;
    options.top_k = 100;
    EXPECT_EQ(test::run_search(b.build(), options).top.size(), 10u);
}

}  // namespace
}  // namespace anderson2021
