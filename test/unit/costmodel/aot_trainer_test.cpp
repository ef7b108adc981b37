#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/aot_trainer.h"
#include "costmodel/plain_cost_model.h"
#include "support/error.h"
#include "synthetic.h"
#include "synthetic_costs.h"

namespace anderson2021 {
namespace {

using namespace test;

TrainingBatch batch_of(const std::vector<StageRow> &rows, const std::vector<float> &runtimes) {
    TrainingBatch batch;
    batch.pipeline = synthetic_pipeline(static_cast<int>(rows.size() / runtimes.size()));
    for (const StageRow &row : rows) {
        batch.schedule_features.insert(
            batch.schedule_features.end(), row.features, row.features + kNumScheduleFeatures);
    }
    batch.runtimes = runtimes;
    return batch;
}

TrainingBatch synthetic_batch() {
    return batch_of(synthetic_rows(kSyntheticSchedules), synthetic_runtimes(kSyntheticSchedules));
}

// The definition of the loss, in double precision.
double exact_loss(const Weights &weights, const TrainingBatch &batch) {
    const PlainNetwork network(weights, batch.pipeline);
    const double fastest =
        static_cast<double>(*std::min_element(batch.runtimes.begin(), batch.runtimes.end()));
    const float *next = batch.schedule_features.data();
    double loss = 0;
    for (const float runtime : batch.runtimes) {
        double prediction = 0, dead = 0;
        for (int w = 0; w < batch.pipeline.num_stages; w++) {
            StageRow row;
            row.position = w;
            std::copy_n(next, kNumScheduleFeatures, row.features);
            next += kNumScheduleFeatures;
            const StageBreakdown stage = network.evaluate(row);
            prediction += stage.cost_ms;
            for (const double v : stage.preactivations) {
                dead -= std::min(v, 0.0);
            }
        }
        const double error = 1.0 / std::max(prediction / fastest, 1e-10) -
                             1.0 / (static_cast<double>(runtime) / fastest);
        loss += error * error + 1e-5 * dead;
    }
    return loss;
}

double sum_of_magnitudes(const std::vector<float> &values) {
    double sum = 0;
    for (const float value : values) {
        sum += std::abs(static_cast<double>(value));
    }
    return sum;
}

void check_synthetic(const Weights &weights, const SyntheticCosts &expected) {
    AotTrainer trainer(weights);
    const TrainingResult result = trainer.step(synthetic_batch(), 0.01f);
    EXPECT_NEAR(static_cast<double>(result.loss) / expected.loss, 1.0, 2e-6);
    for (size_t b = 0; b < kSyntheticSchedules; b++) {
        EXPECT_NEAR(static_cast<double>(result.predictions[b]) / expected.totals[b], 1.0, 2e-6);
    }
    for (size_t w = 0; w < kSyntheticStages; w++) {
        EXPECT_NEAR(static_cast<double>(result.stage_costs[w]) / expected.stages[w], 1.0, 2e-6);
    }
    const Weights gradient = trainer.gradient();
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        const double norm = sum_of_magnitudes(*gradient.buffers()[i]);
        EXPECT_NEAR(norm, expected.gradient_norms[i], 1e-5 * expected.gradient_norms[i])
            << kWeightBuffers[i].name;
        EXPECT_NEAR(static_cast<double>((*trainer.weights().buffers()[i])[0]),
                    expected.updated[i],
                    1e-4 * std::abs(expected.updated[i]))
            << kWeightBuffers[i].name;
    }
    EXPECT_EQ(trainer.timestep(), 1);
}

TEST(AotTrainer, RandomNetwork) {
    check_synthetic(drawn_weights(), kDrawnCosts);
}

TEST(AotTrainer, EveryTermHasItsOwnCoefficient) {
    check_synthetic(counting_weights(), kCountingCosts);
}

TEST(AotTrainer, LossFollowsItsDefinitionForAnyBatchSize) {
    for (const int count : {1, 2, 7, 8, 9, 33}) {
        const TrainingBatch batch = batch_of(synthetic_rows(count), synthetic_runtimes(count));
        AotTrainer trainer(drawn_weights());
        const double expected = exact_loss(drawn_weights(), batch);
        EXPECT_NEAR(static_cast<double>(trainer.step(batch, 0.01f).loss) / expected, 1.0, 1e-5)
            << count;
    }
}

TEST(AotTrainer, GradientIsTheSlopeOfTheLoss) {
    const TrainingBatch batch = synthetic_batch();
    AotTrainer trainer(drawn_weights());
    trainer.step(batch, 0.0f);
    const Weights gradient = trainer.gradient();
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        const std::vector<float> &slopes = *gradient.buffers()[i];
        const float largest = *std::max_element(slopes.begin(), slopes.end(), [](float a, float b) {
            return std::abs(a) < std::abs(b);
        });
        // Elements all over the buffer; a prime step reaches every channel.
        for (size_t at = 0; at < slopes.size(); at += 1 + slopes.size() / 37) {
            constexpr double kStep = 1.0 / 4096;
            Weights up = drawn_weights(), down = drawn_weights();
            (*up.buffers()[i])[at] += static_cast<float>(kStep);
            (*down.buffers()[i])[at] -= static_cast<float>(kStep);
            // What the float weights really differ by.
            const double distance = static_cast<double>((*up.buffers()[i])[at]) -
                                    static_cast<double>((*down.buffers()[i])[at]);
            const double slope = (exact_loss(up, batch) - exact_loss(down, batch)) / distance;
            EXPECT_NEAR(static_cast<double>(slopes[at]),
                        slope,
                        2e-4 * std::abs(static_cast<double>(largest)))
                << kWeightBuffers[i].name << " " << at;
        }
    }
}

TEST(AotTrainer, StepsFollowAdam) {
    const TrainingBatch batch = synthetic_batch();
    constexpr double kRate = 0.003;
    AotTrainer trainer(drawn_weights());
    double weight = static_cast<double>(drawn_weights().head2_filter[100]);
    double mean = 0, variance = 0;
    for (int t = 1; t <= 20; t++) {
        trainer.step(batch, static_cast<float>(kRate));
        const double g = static_cast<double>(trainer.gradient().head2_filter[100]);
        mean = 0.9 * mean + 0.1 * g;
        variance = 0.999 * variance + 0.001 * g * g;
        weight -= kRate * (mean / (1 - std::pow(0.9, t))) /
                  (std::sqrt(variance / (1 - std::pow(0.999, t))) + 1e-5);
        EXPECT_NEAR(static_cast<double>(trainer.weights().head2_filter[100]), weight, 1e-6) << t;
    }
    EXPECT_EQ(trainer.timestep(), 20);
}

TEST(AotTrainer, TrainingLowersTheLoss) {
    const TrainingBatch batch = synthetic_batch();
    AotTrainer trainer(drawn_weights());
    const float first = trainer.step(batch, 0.001f).loss;
    float last = first;
    for (int i = 0; i < 200; i++) {
        last = trainer.step(batch, 0.001f).loss;
    }
    EXPECT_LT(last, 0.5f * first);
}

TEST(AotTrainer, PredictionsBelowTheClampGetNoGradientButTheRegularizers) {
    Weights weights = counting_weights();
    for (float &bias : weights.conv1_bias) {
        bias = -1.0f;
    }
    AotTrainer trainer(weights);
    const TrainingResult result = trainer.step(synthetic_batch(), 0.0f);
    // (1/1e-10)^2 for each schedule.
    EXPECT_NEAR(static_cast<double>(result.loss) / (kSyntheticSchedules * 1e20), 1.0, 1e-5);
    for (const float slope : trainer.gradient().conv1_bias) {
        EXPECT_NEAR(
            static_cast<double>(slope), -1e-5 * kSyntheticSchedules * kSyntheticStages, 1e-8);
    }
}

TEST(AotTrainer, BadRunTimesAreTheUsersMistake) {
    for (const float bad : {0.0f, -1.0f, NAN, INFINITY}) {
        TrainingBatch batch = synthetic_batch();
        batch.runtimes[3] = bad;
        AotTrainer trainer(drawn_weights());
        EXPECT_THROW(trainer.step(batch, 0.01f), UserError);
        EXPECT_EQ(trainer.weights().checksum(), drawn_weights().checksum());
    }
}

TEST(AotTrainer, MismatchedSizesAreAnInternalError) {
    TrainingBatch batch = synthetic_batch();
    batch.schedule_features.pop_back();
    EXPECT_THROW(AotTrainer(drawn_weights()).step(batch, 0.01f), InternalError);
    batch = synthetic_batch();
    batch.pipeline.features.pop_back();
    EXPECT_THROW(AotTrainer(drawn_weights()).step(batch, 0.01f), InternalError);
}

}  // namespace
}  // namespace anderson2021
