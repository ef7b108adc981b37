#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/network/cost_terms.h"
#include "costmodel/plain_cost_model.h"
#include "support/error.h"
#include "synthetic.h"
#include "synthetic_costs.h"

namespace anderson2021 {
namespace {

using namespace test;

std::vector<double> totals(const PlainNetwork &network) {
    std::vector<double> result;
    for (int b = 0; b < kSyntheticSchedules; b++) {
        double total = 0;
        for (int w = 0; w < kSyntheticStages; w++) {
            total += network.evaluate(synthetic_row(b, w)).cost_ms;
        }
        result.push_back(total);
    }
    return result;
}

void check(const Weights &weights, const SyntheticCosts &expected) {
    const PlainNetwork network(weights, synthetic_pipeline());
    const std::vector<double> got = totals(network);
    for (size_t b = 0; b < got.size(); b++) {
        EXPECT_NEAR(got[b] / expected.totals[b], 1.0, 2e-6) << b;
    }
    for (int w = 0; w < kSyntheticStages; w++) {
        EXPECT_NEAR(network.evaluate(synthetic_row(0, w)).cost_ms /
                        expected.stages[static_cast<size_t>(w)],
                    1.0,
                    2e-6);
    }
}

TEST(PlainCostModel, RandomNetwork) {
    check(drawn_weights(), kDrawnCosts);
}

TEST(PlainCostModel, EveryTermHasItsOwnCoefficient) {
    check(counting_weights(), kCountingCosts);
}

TEST(PlainCostModel, BreakdownAddsUp) {
    const PlainNetwork network(drawn_weights(), synthetic_pipeline());
    const StageBreakdown stage = network.evaluate(synthetic_row(1, 2));
    double sum = 0, magnitude = 0;
    for (size_t c = 0; c < stage.coefficients.size(); c++) {
        const double term = stage.coefficients[c] * stage.multipliers[c] * 1e-9;
        sum += term;
        magnitude += std::abs(term);
        const double before = stage.preactivations[c];
        EXPECT_DOUBLE_EQ(stage.coefficients[c], before > 0 ? before : 1e-10 * before);
    }
    EXPECT_NEAR(stage.cost_ms, sum, 1e-12 * magnitude);
    EXPECT_NEAR(stage.magnitude_ms, magnitude, 1e-12 * magnitude);
    for (const size_t unused : {23, 30, 31}) {
        EXPECT_EQ(stage.multipliers[unused], 0.0);
    }
}

TEST(PlainCostModel, RowsOutsideTheNetworksDomainCostNaN) {
    const auto model = make_plain_cost_model(drawn_weights());
    model->begin(synthetic_pipeline());
    StageRow infinite = synthetic_row(0, 0), low = synthetic_row(0, 0);
    infinite.features[40] = INFINITY;
    low.features[40] = -1.0f;
    const std::vector<float> costs = model->predict({infinite, synthetic_row(0, 0), low});
    EXPECT_TRUE(std::isnan(costs[0]));
    EXPECT_NEAR(costs[1] / kDrawnCosts.stages[0], 1.0, 2e-6);
    EXPECT_TRUE(std::isnan(costs[2]));
}

TEST(PlainCostModel, FullWastageIsNotFinite) {
    const auto model = make_plain_cost_model(drawn_weights());
    model->begin(synthetic_pipeline());
    StageRow row = synthetic_row(0, 0);
    row.features[feature::idle_lane_wastage] = 1.0f;
    ASSERT_EQ(row.features[feature::inlined_calls], 0.0f);
    EXPECT_FALSE(std::isfinite(model->predict({row})[0]));
}

TEST(PlainCostModel, MisuseIsAnInternalError) {
    const auto model = make_plain_cost_model(drawn_weights());
    EXPECT_THROW(model->predict({synthetic_row(0, 0)}), InternalError);
    model->begin(synthetic_pipeline(2));
    EXPECT_THROW(model->predict({synthetic_row(0, 2)}), InternalError);
    AlgorithmInputs inputs = synthetic_pipeline();
    inputs.features.pop_back();
    EXPECT_THROW(model->begin(inputs), InternalError);
    inputs = synthetic_pipeline();
    inputs.num_cores = 0;
    EXPECT_THROW(model->begin(inputs), InternalError);
}

}  // namespace
}  // namespace anderson2021
