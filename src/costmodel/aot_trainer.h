// One optimization step at a time on the compiled training network.
#pragma once

#include <array>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/weights.h"

namespace anderson2021 {

/// Measured schedules of one pipeline.
struct TrainingBatch {
    AlgorithmInputs pipeline;
    /// Per schedule, the features of every stage: index (schedule x num_stages + stage) x 73 + i.
    std::vector<float> schedule_features;
    /// Per schedule, ms, > 0. Its size is the size of the batch.
    std::vector<float> runtimes;
};

struct TrainingResult {
    float loss = 0;
    /// Per schedule, ms.
    std::vector<float> predictions;
    /// Index schedule x num_stages + stage, ms.
    std::vector<float> stage_costs;
};

/// Weights under training, with the state of the Adam optimizer.
class AotTrainer {
public:
    explicit AotTrainer(const Weights &weights);

    const Weights &weights() const { return weights_; }
    /// Gradient of the last step; zero before the first.
    Weights gradient() const;
    /// Steps taken so far.
    int timestep() const { return timestep_; }

    /// Computes loss and gradient of a batch, and moves the weights. Predictions are those of the
    /// weights before the step. Throws UserError if a runtime is not positive and finite.
    TrainingResult step(const TrainingBatch &batch, float learning_rate);

private:
    Weights weights_;
    int timestep_ = 0;
    /// Per buffer: new weights, mean, variance and gradient, one after the other.
    std::array<std::vector<float>, kNumWeightBuffers> state_;
};

}  // namespace anderson2021
