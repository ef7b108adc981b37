// One training step: loss, gradient and the Adam update.
#pragma once

#include <array>

#include "Halide.h"

#include "costmodel/network/layers.h"

namespace anderson2021 {
namespace network {

/// What lies along the last dimension of an updated weights buffer: the new weights, the running
/// mean of gradients, the running mean of their squares, and this step's gradient. The two means
/// are read and written in place.
constexpr int kNewWeight = 0, kMean = 1, kVariance = 2, kGradient = 3, kNumUpdateSlots = 4;

/// Weight of the regularizer, which revives coefficients that are negative before activation.
constexpr float kRegularization = 1e-5f;
/// Relative predictions below this count as this.
constexpr float kSmallestPrediction = 1e-10f;
/// Adam: decay of the two means, and what keeps the step finite.
constexpr double kMeanDecay = 0.9, kVarianceDecay = 0.999;
constexpr float kAdamEpsilon = 1e-5f;

struct TrainingInputs {
    Halide::Expr num_stages, batch_size, learning_rate, timestep, reference;
    /// Over (n), ms.
    Halide::Func true_runtime;
    /// Over (x, y, w).
    Halide::Func pipeline_features;
    /// In file order.
    std::array<Halide::Func, kNumWeightBuffers> weights;
};

/// Defines the Funcs of a step behind a forward pass.
///
/// The loss of schedule n is (1/p - 1/r)^2, with the prediction p and the measured time r relative
/// to the fastest schedule of the batch: an error in throughput, so slow schedules matter little.
class TrainingStep {
public:
    TrainingStep(const TrainingInputs &inputs,
                 const AlgorithmEmbedding &embedding,
                 const ScheduleLayers &layers,
                 const std::vector<CostTerm<Halide::Expr>> &terms,
                 const Halide::Func &prediction);

    /// Sum over the batch.
    Halide::Expr loss() const;
    /// Buffer i in file order with the slots above as last dimension.
    Halide::Func updated_weights(size_t i) const { return updated_[i]; }
    /// `vector_size` has to divide the number of channels of every layer.
    void schedule(int vector_size);

private:
    void define_loss(const Halide::Func &prediction);
    void define_multipliers(const std::vector<CostTerm<Halide::Expr>> &terms);
    void define_coefficient_gradients(const AlgorithmEmbedding &embedding);
    void define_schedule_gradients();
    void define_algorithm_gradients(const AlgorithmEmbedding &embedding);
    void define_update(size_t i);

    TrainingInputs in_;
    ScheduleLayers layers_;
    Halide::Func scale_{"scale"}, stage_loss_{"schedule_loss"}, d_prediction_{"d_prediction"};
    Halide::Func loss_{"loss"}, multipliers_{"multipliers"};
    // Derivatives of the loss by the values in front of the activations.
    Halide::Func d_trunk_{"d_trunk"}, d_trunk_batch_{"d_trunk_batch"};
    Halide::Func d_head2_{"d_head2"}, d_relu2_{"d_relu2"}, d_head1_{"d_head1"};
    Halide::Func transposed_filter_{"transposed_filter"};
    Halide::Func d_filter_head1_{"d_filter_head1"}, d_filter_head2_{"d_filter_head2"};
    Halide::Func d_squashed_{"d_squashed"};
    Halide::Func corrections_{"bias_corrections"};
    std::array<Halide::Func, kNumWeightBuffers> gradients_, updated_;
};

}  // namespace network
}  // namespace anderson2021
