// The compiled network against the plain one on features of real schedules.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/aot_cost_model.h"
#include "costmodel/plain_cost_model.h"
#include "real_features.h"

namespace anderson2021 {
namespace {

using namespace test;

// Largest differences, as shares of what is named.
struct Errors {
    double of_stage_terms = 0;
    double of_all_terms = 0;
    double of_summands = 0;
    int stages = 0;
    int inexact_stages = 0;
};

void compare(const Weights &weights, const FeaturizedPipeline &pipeline, Errors &errors) {
    const PlainNetwork plain(weights, pipeline.inputs);
    const auto compiled = make_aot_cost_model(weights);
    compiled->begin(pipeline.inputs);
    for (const std::vector<StageRow> &rows : pipeline.schedules) {
        const std::vector<float> costs = compiled->predict(rows);
        double difference = 0;
        double magnitude = 0;
        for (size_t i = 0; i < rows.size(); i++) {
            const StageBreakdown expected = plain.evaluate(rows[i]);
            const double error = static_cast<double>(costs[i]) - expected.cost_ms;
            const double of_terms = std::abs(error) / expected.magnitude_ms;
            errors.of_stage_terms = std::max(errors.of_stage_terms, of_terms);
            errors.of_summands =
                std::max(errors.of_summands, std::abs(error) / expected.summands_ms);
            errors.stages++;
            errors.inexact_stages += of_terms < 1e-5 ? 0 : 1;
            difference += error;
            magnitude += expected.magnitude_ms;
        }
        errors.of_all_terms = std::max(errors.of_all_terms, std::abs(difference) / magnitude);
    }
}

// What may become of stages whose coefficients are small differences.
struct Limits {
    double share_of_inexact_stages = 0.01;
    double of_stage_terms = 2e-4;
};

void check(const Weights &weights, const std::string &name, const Limits &limits = {}) {
    Errors errors;
    for (const FeaturizedPipeline &pipeline : featurized_pipelines(20)) {
        compare(weights, pipeline, errors);
    }
    EXPECT_GT(errors.stages, 1000) << name;
    EXPECT_LT(errors.of_all_terms, 1e-5) << name;
    // A handful of roundings, if everything that is added up on the way counts.
    EXPECT_LT(errors.of_summands, 1e-6) << name;
    // A coefficient can be what is left of much larger summands. Such stages are few, and cheap in
    // comparison to the others of their schedule.
    EXPECT_LT(errors.inexact_stages, errors.stages * limits.share_of_inexact_stages) << name;
    EXPECT_LT(errors.of_stage_terms, limits.of_stage_terms) << name;
}

TEST(NetworkPrecision, BuiltinWeights) {
    // They are trained: more is added up and taken away again than with random ones.
    check(builtin_weights(), "built-in", {0.05, 5e-3});
}

TEST(NetworkPrecision, RandomWeights) {
    for (const uint32_t seed : {1u, 2u, 3u, 4u, 5u}) {
        check(Weights::random(seed), std::to_string(seed));
    }
}

TEST(NetworkPrecision, LargeWeights) {
    // Training makes weights larger.
    Weights weights = Weights::random(6);
    for (std::vector<float> *buffer : {&weights.head2_filter, &weights.conv1_filter}) {
        for (float &value : *buffer) {
            value *= 4.0f;
        }
    }
    check(weights, "large");
}

}  // namespace
}  // namespace anderson2021
