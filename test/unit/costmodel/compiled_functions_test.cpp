// The compiled functions with the whole batch of schedules, called through their C interface.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include "HalideBuffer.h"

#include "anderson2021_cost_model.h"
#include "anderson2021_cost_rows.h"
#include "costmodel/aot_cost_model.h"
#include "costmodel/compiled_call.h"
#include "support/error.h"
#include "synthetic.h"
#include "synthetic_costs.h"
#include "test_cost_rows_baseline.h"

namespace anderson2021 {
namespace {

using namespace test;
using Halide::Runtime::Buffer;

struct Prediction {
    std::vector<float> totals;
    /// Index schedule x stages + stage.
    std::vector<float> stages;
    float loss = -1;
};

// Features in the function's own layout: [40, 7, stages] with the kind innermost.
Buffer<float> kind_innermost(const AlgorithmInputs &inputs) {
    Buffer<float> result(kHead1Width, kHead1Height, inputs.num_stages);
    result.for_each_element([&](int x, int y, int w) {
        result(x, y, w) =
            inputs.features[static_cast<size_t>((w * kHead1Width + x) * kHead1Height + y)];
    });
    return result;
}

// `rows` holds num_stages rows per schedule. The buffers are larger than need be by `slack`.
Prediction predict(const Weights &weights,
                   const std::vector<StageRow> &rows,
                   int num_stages,
                   int max_stages,
                   int slack) {
    const int batch = static_cast<int>(rows.size()) / num_stages;
    Buffer<float> pipeline = kind_innermost(synthetic_pipeline(max_stages));
    Buffer<float> schedules(batch + slack, kNumScheduleFeatures, max_stages);
    schedules.fill(NAN);  // must not be looked at beyond the batch
    for (int n = 0; n < batch; n++) {
        for (int w = 0; w < std::min(num_stages, max_stages); w++) {
            for (int s = 0; s < kNumScheduleFeatures; s++) {
                schedules(n, s, w) = rows[static_cast<size_t>(n * num_stages + w)].features[s];
            }
        }
    }
    std::vector<Buffer<float>> in;
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        in.push_back(view_weights(weights, i));
    }
    Buffer<float> totals(batch), stages(batch, num_stages), loss = Buffer<float>::make_scalar();
    const int status = cost_model(num_stages,
                                  batch,
                                  kSyntheticCores,
                                  0,
                                  pipeline,
                                  schedules,
                                  in[0],
                                  in[1],
                                  in[2],
                                  in[3],
                                  in[4],
                                  in[5],
                                  0.0f,
                                  0,
                                  0,
                                  nullptr,
                                  totals,
                                  stages,
                                  loss);
    check_compiled_call(status, "cost_model");
    Prediction result;
    result.loss = loss();
    for (int n = 0; n < batch; n++) {
        result.totals.push_back(totals(n));
        for (int w = 0; w < num_stages; w++) {
            result.stages.push_back(stages(n, w));
        }
    }
    return result;
}

void expect_same(const std::vector<float> &a, const std::vector<float> &b) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

TEST(CostModelFunction, SyntheticCosts) {
    const auto rows = synthetic_rows(kSyntheticSchedules);
    for (const auto &[weights, expected] :
         {std::pair(drawn_weights(), kDrawnCosts), std::pair(counting_weights(), kCountingCosts)}) {
        const Prediction got = predict(weights, rows, kSyntheticStages, kSyntheticStages, 0);
        EXPECT_EQ(got.loss, 0.0f);
        for (size_t b = 0; b < kSyntheticSchedules; b++) {
            EXPECT_NEAR(static_cast<double>(got.totals[b]) / expected.totals[b], 1.0, 2e-6);
        }
        for (size_t w = 0; w < kSyntheticStages; w++) {
            EXPECT_NEAR(static_cast<double>(got.stages[w]) / expected.stages[w], 1.0, 2e-6);
        }
    }
}

TEST(CostModelFunction, AnyBatchSizeGivesTheSameBits) {
    const auto rows = random_rows(1, 1024 * kSyntheticStages, kSyntheticStages);
    const Weights weights = drawn_weights();
    const Prediction all = predict(weights, rows, kSyntheticStages, kSyntheticStages, 0);
    for (const int batch : {1, 7, 8, 9, 16, 1023}) {
        const std::vector<StageRow> part(rows.begin(), rows.begin() + batch * kSyntheticStages);
        const Prediction got = predict(weights, part, kSyntheticStages, kSyntheticStages, 3);
        expect_same(got.totals, {all.totals.begin(), all.totals.begin() + batch});
        expect_same(got.stages,
                    {all.stages.begin(), all.stages.begin() + batch * kSyntheticStages});
    }
}

TEST(CostModelFunction, StagesThatAreNotScheduledYetAreLeftOut) {
    const auto rows = random_rows(2, 9 * 3, 3);
    const Weights weights = drawn_weights();
    const Prediction partial = predict(weights, rows, 3, 5, 2);
    const Prediction exact = predict(weights, rows, 3, 3, 0);
    expect_same(partial.totals, exact.totals);
    expect_same(partial.stages, exact.stages);
}

TEST(CostModelFunction, AgreesWithRowByRowPredictionToTheBit) {
    auto rows = random_rows(3, 50 * kSyntheticStages, kSyntheticStages);
    for (size_t i = 0; i < rows.size(); i++) {
        rows[i].position = static_cast<int>(i) % kSyntheticStages;
    }
    const auto model = make_aot_cost_model(drawn_weights());
    model->begin(synthetic_pipeline());
    expect_same(predict(drawn_weights(), rows, kSyntheticStages, kSyntheticStages, 0).stages,
                model->predict(rows));
}

// The arguments of cost_rows for rows with the algorithm embedding `trunk`.
template<typename Function>
std::vector<float>
call_rows(Function function, const std::vector<StageRow> &rows, Buffer<float> trunk) {
    const int count = static_cast<int>(rows.size());
    Buffer<int32_t> positions(count);
    Buffer<float> features(kNumScheduleFeatures, count), cost(count);
    for (int n = 0; n < count; n++) {
        positions(n) = rows[static_cast<size_t>(n)].position;
        std::copy_n(rows[static_cast<size_t>(n)].features, kNumScheduleFeatures, &features(0, n));
    }
    const Weights weights = drawn_weights();
    Buffer<float> head2_filter = view_weights(weights, 2), head2_bias = view_weights(weights, 3);
    Buffer<float> filter1 = view_weights(weights, 4);
    check_compiled_call(
        function(
            kSyntheticCores, trunk, positions, features, head2_filter, head2_bias, filter1, cost),
        "cost_rows");
    return {cost.begin(), cost.end()};
}

TEST(CostRowsFunction, CostsDoNotDependOnTheInstructionSet) {
    // With whatever the processor has against the least that the architecture guarantees.
    Buffer<float> trunk(kConv1Channels, kSyntheticStages);
    trunk.for_each_element(
        [&](int c, int w) { trunk(c, w) = 0.1f * static_cast<float>(c - 3 * w); });
    const auto rows = random_rows(6, 500, kSyntheticStages);
    expect_same(call_rows(cost_rows, rows, trunk), call_rows(cost_rows_baseline, rows, trunk));
}

TEST(CostModelFunction, BadBuffersAreReportedInsteadOfEndingTheProcess) {
    install_compiled_error_handler();
    const auto rows = synthetic_rows(1);
    // Fewer stages in the buffers than asked for.
    try {
        predict(drawn_weights(), rows, kSyntheticStages, kSyntheticStages - 1, 0);
        FAIL() << "not reported";
    } catch (const InternalError &error) {
        EXPECT_NE(std::string(error.what()).find("features"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace anderson2021
