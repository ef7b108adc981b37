// Random schedules, one after the other: each depends on its seed alone, and on nothing else.
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "features/stage_row.h"
#include "schedule/nest_verifier.h"
#include "search/depth_hash.h"
#include "search/evaluation_options.h"
#include "search/schedule_sampler.h"
#include "search_fixture.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

// Everything that a sampler needs to live.
struct Bench {
    explicit Bench(PipelineGraph g, const Options &o = sampling_options())
        : graph(std::move(g)), options(o), store(graph),
          model(test::make_test_cost_model(graph, 80)),
          sampler(graph, store, device, options, *model) {}

    static Options sampling_options() {
        Options options = test::test_options();
        options.beam_size = 1;
        options.random_dropout = 1;
        options.num_passes = 1;
        return options;
    }

    uint64_t hash_of(int64_t seed) { return full_hash(*sampler.sample(seed).best); }

    const PipelineGraph graph;
    const Options options;
    const GpuDevice device;
    RegionStore store;
    std::unique_ptr<CostModel> model;
    ScheduleSampler sampler;
};

void expect_same(const SearchResult &a, const SearchResult &b, const PipelineGraph &graph) {
    EXPECT_EQ(full_hash(*a.best), full_hash(*b.best));
    EXPECT_EQ(a.cost, b.cost);
    EXPECT_EQ(a.stage_costs, b.stage_costs);
    for (int stage = 0; stage < graph.num_stages(); stage++) {
        ASSERT_EQ(a.features.has(stage), b.features.has(stage)) << stage;
        if (!a.features.has(stage)) {
            continue;
        }
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            EXPECT_EQ(a.features.row(stage)[i], b.features.row(stage)[i])
                << stage << " " << schedule_feature_name(i);
        }
    }
}

TEST(ScheduleSampler, EarlierDescentsDoNotMatter) {
    for (uint32_t number = 0; number < 8; number++) {
        Bench up(test::random_graph(number)), down(test::random_graph(number));
        std::vector<SearchResult> results;
        for (int64_t seed = 0; seed < 12; seed++) {
            results.push_back(up.sampler.sample(seed));
        }
        for (int64_t seed = 11; seed >= 0; seed--) {
            SCOPED_TRACE("graph " + std::to_string(number) + " seed " + std::to_string(seed));
            expect_same(down.sampler.sample(seed), results[size_t(seed)], up.graph);
        }
    }
}

// What is kept for later descents is thrown away now and then.
TEST(ScheduleSampler, ForgettingDoesNotMatter) {
    Bench bench(test::random_graph(3));
    const SearchResult first = bench.sampler.sample(5);
    for (int64_t seed = 100; seed < 300; seed++) {
        bench.sampler.sample(seed);
    }
    expect_same(bench.sampler.sample(5), first, bench.graph);
}

TEST(ScheduleSampler, DescendsLikeASearchWithThatSeed) {
    for (uint32_t number = 0; number < 8; number++) {
        Bench bench(test::random_graph(number));
        for (int64_t seed = 0; seed < 5; seed++) {
            Options options = bench.options;
            options.random_dropout_seed = seed;
            RegionStore store(bench.graph);
            const SearchResult searched =
                search(bench.graph, store, bench.device, options, *bench.model);
            SCOPED_TRACE("graph " + std::to_string(number) + " seed " + std::to_string(seed));
            expect_same(bench.sampler.sample(seed), searched, bench.graph);
        }
    }
}

TEST(ScheduleSampler, SchedulesAreSoundAndDifferent) {
    Bench bench(test::stencil_graph());
    std::set<uint64_t> hashes;
    for (int64_t seed = 0; seed < 60; seed++) {
        const SearchResult result = bench.sampler.sample(seed);
        const auto fault = verify_schedule(*result.best, bench.graph, bench.device);
        EXPECT_EQ(fault, std::nullopt) << *fault;
        hashes.insert(full_hash(*result.best));
    }
    // One seed that counts for all would give one.
    EXPECT_GE(hashes.size(), 10u);
}

TEST(ScheduleSampler, FeaturesAndCostsBelongToTheSchedule) {
    for (uint32_t number = 10; number < 14; number++) {
        Bench bench(test::random_graph(number));
        RegionStore store(bench.graph);
        Featurizer fresh(bench.graph, store, bench.device, featurizer_options(bench.options));
        for (int64_t seed = 0; seed < 4; seed++) {
            const SearchResult result = bench.sampler.sample(seed);
            const FeatureMatrix features = fresh.featurize(result.best).features;
            std::vector<StageRow> rows;
            for (const int stage : bench.graph.record_order()) {
                ASSERT_TRUE(result.features.has(stage));
                StageRow row;
                row.position = static_cast<int>(rows.size());
                for (int i = 0; i < kNumScheduleFeatures; i++) {
                    EXPECT_EQ(result.features.row(stage)[i], features.row(stage)[i])
                        << stage << " " << schedule_feature_name(i);
                    row.features[i] = static_cast<float>(features.row(stage)[i]);
                }
                rows.push_back(row);
            }
            double sum = 0;
            const std::vector<float> costs = bench.model->predict(rows);
            ASSERT_EQ(result.stage_costs.size(), costs.size());
            for (size_t i = 0; i < costs.size(); i++) {
                EXPECT_FLOAT_EQ(static_cast<float>(result.stage_costs[i]), costs[i]);
                sum += result.stage_costs[i];
            }
            EXPECT_NEAR(result.cost, sum, 1e-6 * std::abs(sum));
        }
    }
}

TEST(ScheduleSampler, StatisticsStayEmpty) {
    Bench bench(test::stencil_graph());
    const SearchResult result = bench.sampler.sample(1);
    EXPECT_EQ(result.stats.states_added, 0);
    EXPECT_TRUE(result.top.empty());
}

TEST(ScheduleSampler, ADeadEndIsAnErrorThatNamesSeedAndFunc) {
    Options options = Bench::sampling_options();
    // Two stages cannot be inlined.
    options.search_space_options = "0010";
    Bench bench(test::mat_mul_graph(64), options);
    for (int64_t seed = 7; seed < 9; seed++) {
        try {
            bench.sampler.sample(seed);
            FAIL() << "A schedule out of nothing";
        } catch (const UserError &e) {
            const std::string text = e.what();
            EXPECT_NE(text.find("seed " + std::to_string(seed)), std::string::npos) << text;
            EXPECT_NE(text.find("Func prod"), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace anderson2021
