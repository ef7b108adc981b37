#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "costmodel/aot_cost_model.h"
#include "costmodel/network/cost_terms.h"
#include "costmodel/plain_cost_model.h"
#include "support/error.h"
#include "synthetic.h"
#include "synthetic_costs.h"

namespace anderson2021 {
namespace {

using namespace test;

// Equal bits; NaN counts as equal to itself.
bool same_bits(float a, float b) {
    return memcmp(&a, &b, sizeof(a)) == 0;
}

std::unique_ptr<CostModel> begun(const Weights &weights, int num_stages = kSyntheticStages) {
    auto model = make_aot_cost_model(weights);
    model->begin(synthetic_pipeline(num_stages));
    return model;
}

void check_synthetic(const Weights &weights, const SyntheticCosts &expected) {
    const auto rows = synthetic_rows(kSyntheticSchedules);
    const std::vector<float> costs = begun(weights)->predict(rows);
    ASSERT_EQ(costs.size(), rows.size());
    for (size_t w = 0; w < kSyntheticStages; w++) {
        EXPECT_NEAR(static_cast<double>(costs[w]) / expected.stages[w], 1.0, 2e-6) << w;
    }
    for (size_t b = 0; b < kSyntheticSchedules; b++) {
        double total = 0;
        for (size_t w = 0; w < kSyntheticStages; w++) {
            total += static_cast<double>(costs[b * kSyntheticStages + w]);
        }
        EXPECT_NEAR(total / expected.totals[b], 1.0, 2e-6) << b;
    }
}

TEST(AotCostModel, RandomNetwork) {
    check_synthetic(drawn_weights(), kDrawnCosts);
}

TEST(AotCostModel, EveryTermHasItsOwnCoefficient) {
    check_synthetic(counting_weights(), kCountingCosts);
}

// Differences from the double-precision model, relative to the terms of each stage, ascending.
std::vector<double> sorted_errors(const Weights &weights) {
    constexpr int kStages = 9;
    const auto rows = random_rows(1, 3000, kStages);
    const PlainNetwork plain(weights, synthetic_pipeline(kStages));
    const std::vector<float> costs = begun(weights, kStages)->predict(rows);
    std::vector<double> errors;
    for (size_t i = 0; i < rows.size(); i++) {
        const StageBreakdown expected = plain.evaluate(rows[i]);
        const double error = std::abs(static_cast<double>(costs[i]) - expected.cost_ms);
        errors.push_back(error / expected.magnitude_ms);
    }
    std::sort(errors.begin(), errors.end());
    return errors;
}

TEST(AotCostModel, AgreesWithThePlainModel) {
    for (const uint32_t seed : {3u, 4u, 5u}) {
        Weights weights = Weights::random(seed);
        const std::vector<double> errors = sorted_errors(weights);
        EXPECT_LT(errors[errors.size() * 99 / 100], 1e-5) << seed;
        // A coefficient can be the small difference of large sums in single precision.
        EXPECT_LT(errors.back(), 2e-4) << seed;
        // Trained weights are larger than initial ones, so there is more of that.
        for (float &value : weights.conv1_filter) {
            value *= 8.0f;
        }
        const std::vector<double> large = sorted_errors(weights);
        EXPECT_LT(large[large.size() * 99 / 100], 1e-5) << seed;
        EXPECT_LT(large.back(), 1e-3) << seed;
    }
}

TEST(AotCostModel, CostDoesNotDependOnTheBatch) {
    const auto model = begun(drawn_weights());
    const auto rows = random_rows(2, 1024, kSyntheticStages);
    const std::vector<float> all = model->predict(rows);
    for (const size_t size : {1u, 7u, 8u, 9u, 15u, 17u, 1024u}) {
        const std::vector<StageRow> part(rows.end() - static_cast<ptrdiff_t>(size), rows.end());
        const std::vector<float> costs = model->predict(part);
        ASSERT_EQ(costs.size(), size);
        for (size_t i = 0; i < size; i++) {
            EXPECT_TRUE(same_bits(costs[i], all[rows.size() - size + i])) << size << " " << i;
        }
    }
    EXPECT_TRUE(model->predict({}).empty());
}

TEST(AotCostModel, RowsOutsideTheNetworksDomainCostNaNAndHarmNoOther) {
    const auto model = begun(drawn_weights());
    auto rows = random_rows(7, 40, kSyntheticStages);
    const std::vector<float> before = model->predict(rows);
    const float bad[] = {NAN, INFINITY, -INFINITY, -1.0f, -2.0f};
    for (size_t i = 0; i < 5; i++) {
        rows[7 * i].features[2 * i] = bad[i];
    }
    const std::vector<float> after = model->predict(rows);
    for (size_t i = 0; i < rows.size(); i++) {
        if (i % 7 == 0 && i / 7 < 5) {
            EXPECT_TRUE(std::isnan(after[i])) << i;
        } else {
            EXPECT_TRUE(same_bits(after[i], before[i])) << i;
        }
    }
}

TEST(AotCostModel, FullWastageIsNotFinite) {
    StageRow row = synthetic_row(0, 0);
    row.features[feature::idle_lane_wastage] = 1.0f;
    EXPECT_FALSE(std::isfinite(begun(drawn_weights())->predict({row})[0]));
    // ... unless the stage has no lanes of its own.
    row.features[feature::inlined_calls] = 2.0f;
    EXPECT_TRUE(std::isfinite(begun(drawn_weights())->predict({row})[0]));
}

TEST(AotCostModel, BeginReplacesThePipeline) {
    const auto model = begun(drawn_weights(), 2);
    const auto rows = synthetic_rows(1);
    EXPECT_THROW(model->predict(rows), InternalError);
    model->begin(synthetic_pipeline());
    const std::vector<float> costs = model->predict(rows);
    const std::vector<float> fresh = begun(drawn_weights())->predict(rows);
    for (size_t i = 0; i < rows.size(); i++) {
        EXPECT_TRUE(same_bits(costs[i], fresh[i]));
    }
    AlgorithmInputs more_cores = synthetic_pipeline();
    more_cores.num_cores = 80;
    model->begin(more_cores);
    EXPECT_NE(model->predict(rows), costs);
}

TEST(AotCostModel, MisuseIsAnInternalError) {
    const auto model = make_aot_cost_model(drawn_weights());
    EXPECT_THROW(model->predict(synthetic_rows(1)), InternalError);
    AlgorithmInputs inputs = synthetic_pipeline();
    inputs.features.pop_back();
    EXPECT_THROW(model->begin(inputs), InternalError);
    model->begin(synthetic_pipeline());
    StageRow row = synthetic_row(0, 0);
    row.position = -1;
    EXPECT_THROW(model->predict({row}), InternalError);
}

TEST(AotCostModel, AnEmptyPipelineIsFine) {
    const auto model = begun(drawn_weights(), 0);
    EXPECT_TRUE(model->predict({}).empty());
}

}  // namespace
}  // namespace anderson2021
