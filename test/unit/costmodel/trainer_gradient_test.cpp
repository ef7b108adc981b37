// Every element of the compiled gradient, and of the optimizer's step, against the formulas that
// they follow, in double precision; with features of real schedules.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/aot_trainer.h"
#include "costmodel/plain_cost_model.h"
#include "real_features.h"

namespace anderson2021 {
namespace {

using namespace test;
using Gradient = std::array<std::vector<double>, kNumWeightBuffers>;
enum Buffer { Head1Filter, Head1Bias, Head2Filter, Head2Bias, Conv1Filter, Conv1Bias };

double element(const std::vector<float> &values, int index) {
    return static_cast<double>(values[static_cast<size_t>(index)]);
}

double &element(std::vector<double> &values, int index) {
    return values[static_cast<size_t>(index)];
}

double leaky_slope(double v) {
    return v > 0 ? 1.0 : 1e-10;
}

/// Schedules that compute every stage, at most `count`, with run times near the predictions.
struct Batch {
    Batch(const Weights &weights, const FeaturizedPipeline &pipeline, size_t count) {
        batch.pipeline = pipeline.inputs;
        const PlainNetwork network(weights, pipeline.inputs);
        for (const std::vector<StageRow> &rows : pipeline.schedules) {
            if (static_cast<int>(rows.size()) != pipeline.inputs.num_stages ||
                schedules.size() == count) {
                continue;
            }
            double cost = 0;
            for (const StageRow &row : rows) {
                batch.schedule_features.insert(batch.schedule_features.end(),
                                               row.features,
                                               row.features + kNumScheduleFeatures);
                cost += network.evaluate(row).cost_ms;
            }
            // Between half and twice of what is predicted.
            const double ratio = 0.5 + 1.5 * static_cast<double>(schedules.size() * 7 % 10) / 10;
            batch.runtimes.push_back(static_cast<float>(std::max(cost, 1e-3) * ratio));
            schedules.push_back(rows);
        }
    }

    TrainingBatch batch;
    std::vector<std::vector<StageRow>> schedules;
};

/// The chain rule by hand.
class ClosedForm {
public:
    ClosedForm(const Weights &weights, const Batch &batch)
        : weights_(weights), inputs_(batch.batch.pipeline), network_(weights, inputs_) {
        for (size_t i = 0; i < kNumWeightBuffers; i++) {
            gradient[i].assign(weights.buffers()[i]->size(), 0.0);
        }
        const std::vector<float> &runtimes = batch.batch.runtimes;
        const double scale =
            1 / static_cast<double>(*std::min_element(runtimes.begin(), runtimes.end()));
        for (size_t n = 0; n < batch.schedules.size(); n++) {
            double cost = 0;
            for (const StageRow &row : batch.schedules[n]) {
                cost += network_.evaluate(row).cost_ms;
            }
            const double predicted = std::max(cost * scale, 1e-10);
            const double measured = static_cast<double>(runtimes[n]) * scale;
            const double slope =
                cost * scale < 1e-10
                    ? 0
                    : -2 * scale * (1 / predicted - 1 / measured) / (predicted * predicted);
            for (const StageRow &row : batch.schedules[n]) {
                add_stage(row, slope);
            }
        }
    }

    Gradient gradient;

private:
    double squashed(int channel, int kind, int type) const {
        const int index = channel + kHead1Channels * (kind + kHead1Width * type);
        return 1 / (1 + std::exp(-element(weights_.head1_filter, index)));
    }
    double count(int stage, int kind, int type) const {
        return element(inputs_.features, stage * kNumNetworkFeatures + kind * kHead1Height + type);
    }

    void add_stage(const StageRow &row, double slope) {
        const StageBreakdown stage = network_.evaluate(row);
        std::array<double, kHead2Channels> before{}, head2_slopes{};
        std::array<double, kHead1Channels> head1{}, head1_slopes{};
        for (int k = 0; k < kHead2Channels; k++) {
            double &sum = before[static_cast<size_t>(k)];
            sum = element(weights_.head2_bias, k);
            for (int s = 0; s < kHead2Width; s++) {
                sum += element(weights_.head2_filter, k + kHead2Channels * s) *
                       std::log1p(static_cast<double>(row.features[s]));
            }
        }
        for (int k = 0; k < kHead1Channels; k++) {
            double &sum = head1[static_cast<size_t>(k)];
            sum = element(weights_.head1_bias, k);
            for (int i = 0; i < kNumNetworkFeatures; i++) {
                const int kind = i / kHead1Height, type = i % kHead1Height;
                sum += squashed(k, kind, type) * count(row.position, kind, type);
            }
        }
        for (int c = 0; c < kConv1Channels; c++) {
            const double z = stage.preactivations[static_cast<size_t>(c)];
            const double dz =
                slope * 1e-9 * stage.multipliers[static_cast<size_t>(c)] * leaky_slope(z) -
                (z <= 0 ? 1e-5 : 0);
            element(gradient[Conv1Bias], c) += dz;
            for (int k = 0; k < kHead1Channels + kHead2Channels; k++) {
                const int index = c + kConv1Channels * k;
                const double weight = element(weights_.conv1_filter, index);
                if (k < kHead1Channels) {
                    element(gradient[Conv1Filter], index) += dz * head1[static_cast<size_t>(k)];
                    head1_slopes[static_cast<size_t>(k)] += weight * dz;
                } else {
                    const auto h = static_cast<size_t>(k - kHead1Channels);
                    const double active =
                        std::max(before[h], 0.0) + 1e-10 * std::min(before[h], 0.0);
                    element(gradient[Conv1Filter], index) += dz * active;
                    head2_slopes[h] += weight * dz * leaky_slope(before[h]);
                }
            }
        }
        add_heads(row, head1_slopes, head2_slopes);
    }

    void add_heads(const StageRow &row,
                   const std::array<double, kHead1Channels> &head1_slopes,
                   const std::array<double, kHead2Channels> &head2_slopes) {
        for (int k = 0; k < kHead2Channels; k++) {
            const double dh = head2_slopes[static_cast<size_t>(k)];
            element(gradient[Head2Bias], k) += dh;
            for (int s = 0; s < kHead2Width; s++) {
                element(gradient[Head2Filter], k + kHead2Channels * s) +=
                    dh * std::log1p(static_cast<double>(row.features[s]));
            }
        }
        for (int k = 0; k < kHead1Channels; k++) {
            const double dh = head1_slopes[static_cast<size_t>(k)];
            element(gradient[Head1Bias], k) += dh;
            for (int i = 0; i < kNumNetworkFeatures; i++) {
                const int kind = i / kHead1Height, type = i % kHead1Height;
                const double q = squashed(k, kind, type);
                element(gradient[Head1Filter], k + kHead1Channels * (kind + kHead1Width * type)) +=
                    dh * q * (1 - q) * count(row.position, kind, type);
            }
        }
    }

    const Weights &weights_;
    const AlgorithmInputs &inputs_;
    const PlainNetwork network_;
};

double largest(const std::vector<double> &values) {
    double result = 0;
    for (const double v : values) {
        result = std::max(result, std::abs(v));
    }
    return result;
}

TEST(TrainerGradient, EveryElementFollowsTheChainRule) {
    for (const uint32_t seed : {1u, 2u}) {
        const Weights weights = Weights::random(seed);
        for (const FeaturizedPipeline &pipeline : featurized_pipelines(30)) {
            const Batch batch(weights, pipeline, 12);
            ASSERT_GT(batch.schedules.size(), 4u) << pipeline.name;
            AotTrainer trainer(weights);
            trainer.step(batch.batch, 0.0f);
            const Weights got = trainer.gradient();
            const ClosedForm expected(weights, batch);
            for (size_t i = 0; i < kNumWeightBuffers; i++) {
                const double unit = largest(expected.gradient[i]);
                double error = 0;
                for (size_t k = 0; k < expected.gradient[i].size(); k++) {
                    error = std::max(error,
                                     std::abs(static_cast<double>((*got.buffers()[i])[k]) -
                                              expected.gradient[i][k]));
                }
                // The rounding errors of predictions, up to 1e-5 with real features, count three
                // times: the slope falls with the third power of the prediction.
                EXPECT_LT(error, 5e-5 * unit)
                    << pipeline.name << " " << kWeightBuffers[i].name << " " << seed;
            }
        }
    }
}

TEST(TrainerGradient, EveryElementFollowsAdam) {
    const Weights start = Weights::random(3);
    const FeaturizedPipeline pipeline = featurized_pipelines(30)[1];
    const Batch batch(start, pipeline, 8);
    constexpr double kRate = 0.01;
    AotTrainer trainer(start);
    Gradient mean, variance;
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        mean[i].assign(start.buffers()[i]->size(), 0.0);
        variance[i] = mean[i];
    }
    for (int t = 1; t <= 3; t++) {
        const Weights before = trainer.weights();
        trainer.step(batch.batch, static_cast<float>(kRate));
        const Weights gradient = trainer.gradient();
        for (size_t i = 0; i < kNumWeightBuffers; i++) {
            for (size_t k = 0; k < mean[i].size(); k++) {
                const auto g = static_cast<double>((*gradient.buffers()[i])[k]);
                mean[i][k] = 0.9 * mean[i][k] + 0.1 * g;
                variance[i][k] = 0.999 * variance[i][k] + 0.001 * g * g;
                const double step = kRate * (mean[i][k] / (1 - std::pow(0.9, t))) /
                                    (std::sqrt(variance[i][k] / (1 - std::pow(0.999, t))) + 1e-5);
                const auto expected = static_cast<double>((*before.buffers()[i])[k]) - step;
                EXPECT_NEAR(static_cast<double>((*trainer.weights().buffers()[i])[k]),
                            expected,
                            1e-4 * kRate)
                    << kWeightBuffers[i].name << " " << k << " step " << t;
            }
        }
    }
}

}  // namespace
}  // namespace anderson2021
