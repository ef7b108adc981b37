// Searches as a whole: which schedules come out, that they do not depend on threads or on what was
// searched before, and what each option does.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "schedule/nest_verifier.h"
#include "schedule/schedule_text.h"
#include "search/search.h"
#include "search_fixture.h"
#include "support/log.h"

namespace anderson2021 {
namespace {

using test::random_graph;
using test::run_search;
using test::test_options;

std::string text_of(const PipelineGraph &graph, const SearchResult &result) {
    return print_schedule(*result.best, graph);
}

void expect_same(const PipelineGraph &graph, const SearchResult &a, const SearchResult &b) {
    EXPECT_EQ(text_of(graph, a), text_of(graph, b));
    EXPECT_EQ(a.cost, b.cost);
    EXPECT_EQ(a.stage_costs, b.stage_costs);
    EXPECT_EQ(a.stats.states_added, b.stats.states_added);
    EXPECT_EQ(a.stats.rejections, b.stats.rejections);
}

// Every Func but inputs is placed or inlined.
void expect_complete(const PipelineGraph &graph, const LoopNest &root) {
    for (const FuncNode &func : graph.funcs) {
        EXPECT_TRUE(func.is_input || root.computes(func.id)) << func.name;
    }
}

bool has_axis(const LoopNest &nest, int func, GpuAxis axis) {
    if (nest.func == func && nest.axis == axis) {
        return true;
    }
    return std::any_of(nest.children.begin(), nest.children.end(), [&](const LoopNestPtr &c) {
        return has_axis(*c, func, axis);
    });
}

bool is_at_root(const LoopNest &root, int func) {
    return std::any_of(root.children.begin(), root.children.end(), [&](const LoopNestPtr &c) {
        return c->func == func;
    });
}

TEST(Search, FindsCompleteSchedulesWithFiniteCosts) {
    for (uint32_t seed = 0; seed < 8; seed++) {
        const PipelineGraph graph = random_graph(seed);
        const SearchResult result = run_search(graph, test_options());
        expect_complete(graph, *result.best);
        const auto fault = verify_schedule(*result.best, graph, GpuDevice());
        EXPECT_FALSE(fault) << *fault;
        EXPECT_TRUE(std::isfinite(result.cost));
        double sum = 0;
        for (const double c : result.stage_costs) {
            sum += c;
        }
        EXPECT_EQ(result.cost, sum);
        for (const int stage : graph.record_order()) {
            const bool inlined = !has_axis(*result.best, graph.stage(stage).func, GpuAxis::Simd);
            EXPECT_TRUE(result.features.has(stage) || inlined);
        }
    }
}

TEST(Search, TheNumberOfThreadsChangesNothing) {
    for (uint32_t seed = 20; seed < 26; seed++) {
        const PipelineGraph graph = random_graph(seed);
        Options options = test_options();
        options.threads = 1;
        const SearchResult one = run_search(graph, options);
        options.threads = 4;
        expect_same(graph, one, run_search(graph, options));
        options.randomize_tilings = 1;
        options.random_dropout = 50;
        options.random_dropout_seed = seed;
        const SearchResult four = run_search(graph, options);
        options.threads = 1;
        expect_same(graph, four, run_search(graph, options));
    }
}

TEST(Search, EqualSeedsGiveEqualResultsAndDifferentOnesDiffer) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test_options();
    options.beam_size = 1;
    options.random_dropout = 1;
    std::vector<std::string> found;
    for (int64_t seed = 0; seed < 6; seed++) {
        options.random_dropout_seed = seed;
        const SearchResult once = run_search(graph, options);
        expect_same(graph, once, run_search(graph, options));
        found.push_back(text_of(graph, once));
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    EXPECT_GE(found.size(), 4u);
    // Without dropout the seed is not used.
    options.random_dropout = 100;
    options.random_dropout_seed = 0;
    const SearchResult greedy = run_search(graph, options);
    options.random_dropout_seed = 99;
    expect_same(graph, greedy, run_search(graph, options));
}

TEST(Search, VerifiedMemoryGivesTheSameResult) {
    for (uint32_t seed = 40; seed < 44; seed++) {
        const PipelineGraph graph = random_graph(seed);
        Options options = test_options();
        options.beam_size = 8;
        const SearchResult plain = run_search(graph, options);
        options.verify_feature_cache = 1;
        const SearchResult verified = run_search(graph, options);
        EXPECT_EQ(text_of(graph, plain), text_of(graph, verified));
        EXPECT_EQ(plain.cost, verified.cost);
    }
}

TEST(Search, ReportedCostIsThatOfTheScheduleAlone) {
    for (uint32_t seed = 60; seed < 66; seed++) {
        test::SearchHarness h(random_graph(seed));
        const SearchResult result = run_search(h.graph, test_options());
        auto all = std::make_shared<BitSet>(h.graph.num_funcs());
        for (int f = 0; f < h.graph.num_funcs(); f++) {
            all->insert(f);
        }
        const Evaluation fresh = h.evaluator.evaluate_afresh({result.best, all});
        ASSERT_TRUE(fresh.accepted());
        EXPECT_EQ(fresh.costs->total, result.cost);
    }
}

TEST(Search, WiderBeamsAndMorePassesAreNoWorseThanGreedy) {
    double greedy_sum = 0, beam_sum = 0;
    for (uint32_t seed = 80; seed < 90; seed++) {
        const PipelineGraph graph = random_graph(seed);
        Options options = test_options();
        options.beam_size = 1;
        const SearchResult greedy = run_search(graph, options);
        EXPECT_EQ(greedy.stats.passes, 1);
        options.beam_size = 32;
        const SearchResult beam = run_search(graph, options);
        greedy_sum += std::log(greedy.cost);
        beam_sum += std::log(beam.cost);
    }
    EXPECT_LT(beam_sum, greedy_sum);
}

// Costs on the `Pass <n> result` lines of a search at log level 1.
std::vector<double>
pass_costs(const PipelineGraph &graph, const Options &options, SearchResult *result) {
    std::vector<double> costs;
    set_log_sink([&](const std::string &text) {
        const std::string label = " result: State with cost ";
        const size_t at = text.find(label);
        if (text.rfind("Pass ", 0) == 0 && at != std::string::npos) {
            costs.push_back(std::stod(text.substr(at + label.size())));
        }
    });
    set_log_level(1);
    *result = run_search(graph, options);
    set_log_level(0);
    set_log_sink(nullptr);
    return costs;
}

TEST(Search, TheResultIsNoWorseThanAnyPass) {
    int num_refined = 0;
    for (uint32_t seed = 120; seed < 130; seed++) {
        const PipelineGraph graph = random_graph(seed);
        Options options = test_options();
        options.beam_size = 4;
        options.num_passes = 3;
        SearchResult result;
        const std::vector<double> costs = pass_costs(graph, options, &result);
        ASSERT_FALSE(costs.empty());
        ASSERT_EQ(static_cast<int64_t>(costs.size()), result.stats.passes);
        const double best = *std::min_element(costs.begin(), costs.end());
        // Costs are printed with six digits.
        EXPECT_LE(result.cost, best * 1.00001);
        num_refined += result.cost < best * 0.999 ? 1 : 0;
    }
    EXPECT_GE(num_refined, 1);
}

TEST(Search, PassesAreThoseAskedFor) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test_options();
    options.beam_size = 4;
    SearchResult result;
    // One pass is one pass: no second family, no refinement.
    options.num_passes = 1;
    EXPECT_EQ(pass_costs(graph, options, &result).size(), 1u);
    EXPECT_EQ(result.stats.refinements, 0);
    // Some Funcs are inlined eagerly, so that there are two families.
    options.num_passes = 2;
    EXPECT_EQ(pass_costs(graph, options, &result).size(), 4u);
    EXPECT_GT(result.stats.refinements, 0);
    // The third pass finds nothing better, and a pipeline this small is left to refinement then.
    options.num_passes = 0;
    const std::vector<double> costs = pass_costs(graph, options, &result);
    ASSERT_EQ(costs.size(), 3u);
    EXPECT_GE(costs[2], std::min(costs[0], costs[1]));
    // All greedy passes are the same, unless they are random.
    options.beam_size = 1;
    options.num_passes = 3;
    EXPECT_EQ(pass_costs(graph, options, &result).size(), 1u);
    options.random_dropout = 50;
    EXPECT_EQ(pass_costs(graph, options, &result).size(), 3u);
    options = test_options();
    options.beam_size = 4;
    // Samples are taken as they come.
    options.random_dropout = 50;
    EXPECT_EQ(pass_costs(graph, options, &result).size(), 5u);
    EXPECT_EQ(result.stats.refinements, 0);
    options.random_dropout = 100;
    options.randomize_tilings = 1;
    EXPECT_EQ(pass_costs(graph, options, &result).size(), 5u);
    EXPECT_EQ(result.stats.refinements, 0);
}

// A single Func: all tilings are seen in the first pass, so that the others are left out.
TEST(Search, StopsOnceEverythingWasSeen) {
    test::GraphBuilder b;
    b.func("f", {"x", "y"}).output({2048, 2048}, false).pointwise();
    const PipelineGraph graph = b.build();
    Options options = test_options();
    const SearchResult result = run_search(graph, options);
    EXPECT_EQ(result.stats.passes, 1);
    EXPECT_EQ(result.stats.tilings_generated, 226);
    EXPECT_EQ(result.stats.states_added, 193);
    // It is the cheapest of all of them.
    options.beam_size = 1;
    EXPECT_EQ(run_search(graph, options).cost, result.cost);
}

TEST(SearchOptions, MovesAreThoseThatAreAllowed) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test_options();
    options.beam_size = 8;
    const int num_funcs = 12;

    options.search_space_options = "0001";  // root only
    const LoopNestPtr roots = run_search(graph, options).best;
    for (int f = 0; f < num_funcs; f++) {
        EXPECT_TRUE(is_at_root(*roots, f)) << graph.func(f).name;
    }

    options.search_space_options = "0010";  // inlining only
    const LoopNestPtr inlined = run_search(test::stencil_graph(), options).best;
    EXPECT_EQ(inlined->children.size(), 1u);
    EXPECT_FALSE(has_axis(*inlined, 1, GpuAxis::Simd) || has_axis(*inlined, 2, GpuAxis::Simd));

    options.search_space_options = "0100";  // block and, implied, root
    const LoopNestPtr blocks = run_search(graph, options).best;
    int num_fused = 0;
    for (int f = 0; f < num_funcs; f++) {
        EXPECT_TRUE(has_axis(*blocks, f, GpuAxis::Thread)) << graph.func(f).name;
        num_fused += is_at_root(*blocks, f) ? 0 : 1;
    }
    EXPECT_GT(num_fused, 0);

    options.search_space_options = "1000";  // thread and, implied, root
    const LoopNestPtr threads = run_search(graph, options).best;
    for (int f = 0; f < num_funcs; f++) {
        EXPECT_TRUE(is_at_root(*threads, f) || !has_axis(*threads, f, GpuAxis::Thread));
    }
}

TEST(SearchOptions, WithoutSubtilingNothingGoesIntoThreads) {
    for (uint32_t seed = 100; seed < 106; seed++) {
        const PipelineGraph graph = random_graph(seed);
        Options options = test_options();
        options.disable_subtiling = 1;
        const SearchResult result = run_search(graph, options);
        expect_complete(graph, *result.best);
        for (const LoopNestPtr &task : result.best->children) {
            for (const LoopNestPtr &level : task->children) {
                EXPECT_TRUE(level->store_set_with_descendants().empty());
            }
        }
    }
}

TEST(SearchOptions, OneMultiprocessorWorks) {
    for (uint32_t seed = 110; seed < 116; seed++) {
        const PipelineGraph graph = random_graph(seed);
        Options options = test_options();
        options.parallelism = 1;
        options.beam_size = 8;
        const SearchResult result = run_search(graph, options);
        expect_complete(graph, *result.best);
        for (const LoopNestPtr &task : result.best->children) {
            EXPECT_EQ(task->axis, GpuAxis::Block);
        }
    }
}

// Funcs with loops of their own below the root.
int num_fused_of_harris(const LoopNest &root) {
    int num_fused = 0;
    for (int f = 0; f < 12; f++) {
        num_fused += !is_at_root(root, f) && has_axis(root, f, GpuAxis::Simd);
    }
    return num_fused;
}

TEST(SearchOptions, FreezingKeepsMostFuncsUnfused) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test_options();
    options.beam_size = 8;
    options.freeze_inline_compute_root = 1;
    const SearchResult result = run_search(graph, options);
    expect_complete(graph, *result.best);
    // The pre-pass, and at most 4 others.
    EXPECT_GE(result.stats.passes, 1 + 3);
    EXPECT_LE(result.stats.passes, 1 + 4);
    // 8 of 12 Funcs are frozen, so at most 4 can be fused.
    EXPECT_LE(num_fused_of_harris(*result.best), 4);
}

// Samples for training are greedy searches with one pass.
TEST(SearchOptions, FreezingWorksWithOnePass) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test_options();
    options.beam_size = 1;
    options.random_dropout = 1;
    bool fuses = false;
    std::set<std::string> texts;
    for (uint32_t seed = 0; seed < 8; seed++) {
        options.random_dropout_seed = seed;
        options.freeze_inline_compute_root = 0;
        fuses = fuses || num_fused_of_harris(*run_search(graph, options).best) > 4;
        options.freeze_inline_compute_root = 1;
        const SearchResult frozen = run_search(graph, options);
        expect_complete(graph, *frozen.best);
        EXPECT_EQ(frozen.stats.passes, 2);
        EXPECT_LE(num_fused_of_harris(*frozen.best), 4);
        texts.insert(text_of(graph, frozen));
    }
    EXPECT_TRUE(fuses);
    EXPECT_GT(texts.size(), 1u);
}

TEST(SearchOptions, SamplingLooksAtFewerTilings) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test_options();
    options.beam_size = 4;
    options.num_passes = 1;
    const SearchResult all = run_search(graph, options);
    options.randomize_tilings = 1;
    const SearchResult sampled = run_search(graph, options);
    expect_complete(graph, *sampled.best);
    EXPECT_EQ(all.stats.tilings_accepted, 0);
    EXPECT_GT(sampled.stats.tilings_accepted, 0);
    EXPECT_LT(sampled.stats.states_added, all.stats.states_added / 2);
    options.random_dropout_seed = 1;
    EXPECT_NE(text_of(graph, run_search(graph, options)), text_of(graph, sampled));
}

TEST(SearchOptions, SharedMemoryLimitsFusion) {
    const PipelineGraph graph = test::harris_graph(512, 256);
    Options options = test_options();
    options.beam_size = 8;
    options.search_space_options = "0100";
    RegionStore store(graph);
    const auto model = test::make_test_cost_model(graph, 80);
    GpuDevice device;
    device.shared_bytes_per_block = 1024;
    const SearchResult result = search(graph, store, device, options, *model);
    for (const LoopNestPtr &task : result.best->children) {
        int64_t bytes = 0;
        for (const int f : task->store_set()) {
            bytes += task->regions->of(f).bytes_computed();
        }
        EXPECT_LE(bytes, 1024);
    }
    EXPECT_GT(result.stats.rejections, 0);
}

// A gather reads the whole of a table that is far larger than the points it needs. At the root the
// table counts as recomputed, and it has an update, so that it cannot be inlined; but computing it
// at the root is legal.
TEST(Search, FallsBackRatherThanFail) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({10}).reads("table", {test::constant(0, 99999)});
    b.func("table", {"i"});
    b.update({{"r", 0, 3}}, {test::at("i")}).reads("in", {test::at("i"), test::at("r")});
    b.func("in", {"_0", "_1"}).input();
    PipelineGraph graph = b.build();
    const SearchResult result = run_search(graph, test_options());
    EXPECT_TRUE(is_at_root(*result.best, 1));
    expect_complete(graph, *result.best);
}

TEST(Search, SmallAndOddPipelines) {
    const PipelineGraph histogram = test::histogram_graph();
    expect_complete(histogram, *run_search(histogram, test_options()).best);
    const PipelineGraph scalar = test::scalar_reduction_graph();
    expect_complete(scalar, *run_search(scalar, test_options()).best);

    test::GraphBuilder one;
    one.func("f", {"x", "y"}).output({1, 1}).reads("g", {test::at("x"), test::at("y")});
    one.func("g", {"x", "y"}).pointwise();
    const PipelineGraph point = one.build();
    expect_complete(point, *run_search(point, test_options()).best);

    // f() = g(); g() = 1: no dimensions at all.
    test::GraphBuilder none;
    none.func("f", {}).output({}).reads("g", {});
    none.func("g", {}).update({}, {});
    const PipelineGraph scalars = none.build();
    const LoopNestPtr best = run_search(scalars, test_options()).best;
    expect_complete(scalars, *best);
    EXPECT_EQ(best->children.size(), 3u);

    // f(x) = 0; f(3) = 1: an update without loops.
    test::GraphBuilder update;
    update.func("f", {"x"}).output({64}).update({}, {test::constant(3, 3)});
    const PipelineGraph single = update.build();
    const LoopNestPtr tree = run_search(single, test_options()).best;
    ASSERT_EQ(tree->children.size(), 2u);
    for (const LoopNestPtr &task : tree->children) {
        EXPECT_EQ(task->axis, GpuAxis::Block);
    }

    // Two outputs, one of which the other one reads.
    test::GraphBuilder two;
    two.func("a", {"x"}).output({256}).reads("b", {test::at("x", -1, 1)}, 3);
    two.func("b", {"x"}).output({258}).pointwise();
    const PipelineGraph outputs = two.build();
    const LoopNestPtr both = run_search(outputs, test_options()).best;
    EXPECT_TRUE(is_at_root(*both, 0) && is_at_root(*both, 1));
}

TEST(Search, LogsPassesAndTheBestCost) {
    std::string log;
    set_log_sink([&](const std::string &text) { log += text; });
    set_log_level(1);
    const PipelineGraph graph = test::stencil_graph();
    Options options = test_options();
    options.num_passes = 2;
    run_search(graph, options);
    set_log_level(0);
    const std::string at_level_one = log;
    log.clear();
    run_search(graph, options);
    set_log_sink(nullptr);
    for (const char *expected : {"Search space options:",
                                 "Pass 1 result: State with cost ",
                                 "Pass 2 result: State with cost ",
                                 "Best cost: "}) {
        EXPECT_NE(at_level_one.find(expected), std::string::npos) << expected;
    }
    EXPECT_EQ(log, "");
}

}  // namespace
}  // namespace anderson2021
