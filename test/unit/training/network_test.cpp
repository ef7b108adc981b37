#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/aot_trainer.h"
#include "training/network.h"
#include "training/optimizer.h"
#include "training_fixtures.h"

namespace anderson2021 {
namespace {

using namespace test;

struct SyntheticBatch {
    SparseAlgorithm algorithm;
    Unit unit;

    explicit SyntheticBatch(int count = kSyntheticSchedules) {
        const SampledPipeline pipeline = synthetic_sampled_pipeline(0);
        algorithm = SparseAlgorithm::from_records(pipeline.algorithm, pipeline.num_stages);
        const std::vector<StageRow> rows = synthetic_rows(count);
        std::vector<std::vector<float>> features(static_cast<size_t>(count));
        std::vector<const float *> schedules;
        for (size_t b = 0; b < features.size(); b++) {
            for (size_t w = 0; w < kSyntheticStages; w++) {
                const float *row = rows[b * kSyntheticStages + w].features;
                features[b].insert(features[b].end(), row, row + kNumScheduleFeatures);
            }
            schedules.push_back(features[b].data());
        }
        unit = make_unit(algorithm, schedules, kSyntheticCores);
        const std::vector<float> runtimes = synthetic_runtimes(count);
        for (size_t n = 0; n < kLanes; n++) {
            unit.runtimes[n] = runtimes[n < runtimes.size() ? n : 0];
        }
        unit.fastest = runtimes[0];
    }
};

double norm_of(const std::vector<float> &values) {
    double sum = 0;
    for (const float value : values) {
        sum += std::abs(static_cast<double>(value));
    }
    return sum;
}

// Numbers of the known trainer for these features, weights of seed 1649136212.
TEST(Network, AgreesWithTheKnownTrainer) {
    const SyntheticBatch batch;
    Weights weights = Weights::random(kSyntheticSeed);
    Weights gradient;
    const UnitResult result = Network(weights).evaluate(batch.unit, LossSpec(), &gradient);
    EXPECT_NEAR(result.loss, 0.89060444, 2e-6);
    const double totals[] = {0.19752476,
                             0.27007651,
                             0.36432451,
                             0.15507062,
                             0.20802011,
                             0.30365378,
                             0.37268841,
                             0.25766632,
                             0.1730873,
                             0.27964818};
    for (size_t b = 0; b < 10; b++) {
        EXPECT_NEAR(static_cast<double>(result.predictions[b]) / totals[b], 1, 2e-6) << b;
    }
    const double norms[] = {
        0.31783026, 0.005732276, 1.5164316, 0.0070719142, 7.3633509, 0.0089662774};
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        EXPECT_NEAR(norm_of(*gradient.buffers()[i]) / norms[i], 1, 1e-5) << kWeightBuffers[i].name;
    }
    OptimizerState state;
    optimizer_step(gradient, 0.01f, 0, state, weights);
    const double firsts[] = {
        0.20691489, -0.24841915, -0.17398559, -0.078085974, -0.450144, 0.3867291};
    for (size_t i = 0; i < kNumWeightBuffers; i++) {
        EXPECT_NEAR(static_cast<double>((*weights.buffers()[i])[0]), firsts[i], 2e-6);
    }
}

// The compiled training network is an independent implementation of loss and gradient.
TEST(Network, GradientIsThatOfTheCompiledNetwork) {
    const SyntheticBatch batch(7);
    for (const uint32_t seed : {1u, 2u, 3u}) {
        const Weights weights = Weights::random(seed);
        AotTrainer compiled(weights);
        TrainingBatch same;
        same.pipeline = synthetic_pipeline();
        for (const StageRow &row : synthetic_rows(7)) {
            same.schedule_features.insert(
                same.schedule_features.end(), row.features, row.features + kNumScheduleFeatures);
        }
        same.runtimes = synthetic_runtimes(7);
        const TrainingResult expected = compiled.step(same, 0.01f);
        Weights gradient;
        const UnitResult result = Network(weights).evaluate(batch.unit, LossSpec(), &gradient);
        EXPECT_NEAR(result.loss / static_cast<double>(expected.loss), 1, 1e-5);
        const Weights exact = compiled.gradient();
        for (size_t i = 0; i < kNumWeightBuffers; i++) {
            const auto &a = *gradient.buffers()[i], &b = *exact.buffers()[i];
            const double scale = norm_of(b);
            for (size_t k = 0; k < a.size(); k++) {
                ASSERT_NEAR(static_cast<double>(a[k]), static_cast<double>(b[k]), 1e-5 * scale)
                    << kWeightBuffers[i].name << " " << k << ", seed " << seed;
            }
        }
    }
}

// The other losses, against differences of the loss itself.
TEST(Network, GradientsOfOtherLossesAreDerivatives) {
    SyntheticBatch batch;
    const Weights teacher = Weights::random(5);
    std::vector<float> targets;
    const UnitResult taught = Network(teacher).predict(batch.unit, nullptr, &targets);
    batch.unit.targets = targets;
    batch.unit.runtimes = taught.predictions;
    for (const LossKind kind : {LossKind::Log, LossKind::Terms}) {
        LossSpec spec;
        spec.kind = kind;
        // Away from where activations have their kink, for both.
        Weights weights = teacher;
        for (float &bias : weights.conv1_bias) {
            bias += 20.0f;
        }
        Network(weights).predict(batch.unit, nullptr, &batch.unit.targets);
        for (float &target : batch.unit.targets) {
            target *= 1.01f;
        }
        Weights gradient;
        Network(weights).evaluate(batch.unit, spec, &gradient);
        for (const size_t buffer : {size_t{1}, size_t{3}, size_t{5}}) {
            float &value = (*weights.buffers()[buffer])[2];
            const float original = value, step = 1e-2f;
            value = original + step;
            const double above = Network(weights).evaluate(batch.unit, spec, nullptr).loss;
            value = original - step;
            const double below = Network(weights).evaluate(batch.unit, spec, nullptr).loss;
            value = original;
            const double expected = (above - below) / (2 * static_cast<double>(step));
            const auto actual = static_cast<double>((*gradient.buffers()[buffer])[2]);
            EXPECT_NEAR(actual, expected, 0.03 * std::abs(expected) + 1e-3)
                << "loss " << static_cast<int>(kind) << ", buffer " << buffer;
        }
    }
}

TEST(Network, NothingIsLeftToLearnFromOneself) {
    SyntheticBatch batch;
    const Weights weights = Weights::random(5);
    batch.unit.runtimes =
        Network(weights).predict(batch.unit, nullptr, &batch.unit.targets).predictions;
    LossSpec spec;
    spec.kind = LossKind::Terms;
    Weights gradient;
    const UnitResult result = Network(weights).evaluate(batch.unit, spec, &gradient);
    EXPECT_NEAR(result.loss, 0, 1e-9);
    for (const std::vector<float> *buffer : gradient.buffers()) {
        EXPECT_NEAR(norm_of(*buffer), 0, 1e-4);
    }
}

TEST(Optimizer, ClipsAndIgnoresWhatIsNotFinite) {
    Weights weights, gradient;
    OptimizerState state;
    gradient.conv1_bias[0] = 1000;
    EXPECT_NEAR(optimizer_step(gradient, 0.1f, 1, state, weights), 1000, 1e-9);
    EXPECT_NEAR(static_cast<double>(state.mean.conv1_bias[0]), 0.1, 1e-6);
    const Weights before = weights;
    gradient.conv1_bias[0] = std::nanf("");
    optimizer_step(gradient, 0.1f, 1, state, weights);
    EXPECT_EQ(weights.conv1_bias, before.conv1_bias);
    EXPECT_EQ(state.timestep, 1);
}

}  // namespace
}  // namespace anderson2021
