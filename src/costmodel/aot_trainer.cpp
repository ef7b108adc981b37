#include "costmodel/aot_trainer.h"

#include <algorithm>
#include <cmath>

#include "HalideBuffer.h"

#include "anderson2021_train_cost_model.h"
#include "costmodel/compiled_call.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

using Halide::Runtime::Buffer;

// Parts of a state buffer, in units of the weights buffer's size.
constexpr size_t kNewWeights = 0, kGradient = 3, kParts = 4;

void check_batch(const TrainingBatch &batch) {
    const size_t stages = static_cast<size_t>(batch.pipeline.num_stages);
    ANDERSON_CHECK(stages > 0 && batch.pipeline.num_cores > 0)
        << stages << " stages on " << batch.pipeline.num_cores << " cores";
    ANDERSON_CHECK(batch.pipeline.features.size() == stages * kNumNetworkFeatures)
        << batch.pipeline.features.size() << " algorithm features for " << stages << " stages";
    ANDERSON_CHECK(!batch.runtimes.empty()) << "empty batch";
    ANDERSON_CHECK(batch.schedule_features.size() ==
                   batch.runtimes.size() * stages * kNumScheduleFeatures)
        << batch.schedule_features.size() << " schedule features for " << batch.runtimes.size()
        << " schedules";
    for (const float runtime : batch.runtimes) {
        if (!(std::isfinite(runtime) && runtime > 0)) {
            throw UserError("A sample has a run time of " + std::to_string(runtime) +
                            " ms; remove it from the training data.");
        }
    }
}

// The compiled code counts schedules first, so that it can treat several in one vector.
Buffer<float> transposed_features(const TrainingBatch &batch) {
    const int count = static_cast<int>(batch.runtimes.size());
    Buffer<float> result(count, kNumScheduleFeatures, batch.pipeline.num_stages);
    const float *next = batch.schedule_features.data();
    for (int n = 0; n < count; n++) {
        for (int w = 0; w < batch.pipeline.num_stages; w++) {
            for (int s = 0; s < kNumScheduleFeatures; s++) {
                result(n, s, w) = *next++;
            }
        }
    }
    return result;
}

}  // namespace

AotTrainer::AotTrainer(const Weights &weights) : weights_(weights) {
    install_compiled_error_handler();
    for (size_t i = 0; i < state_.size(); i++) {
        state_[i].assign(kParts * kWeightBuffers[i].size(), 0.0f);
    }
}

Weights AotTrainer::gradient() const {
    Weights result;
    for (size_t i = 0; i < state_.size(); i++) {
        const float *from = state_[i].data() + kGradient * kWeightBuffers[i].size();
        std::copy_n(from, kWeightBuffers[i].size(), result.buffers()[i]->begin());
    }
    return result;
}

TrainingResult AotTrainer::step(const TrainingBatch &batch, float learning_rate) {
    check_batch(batch);
    const int stages = batch.pipeline.num_stages;
    const int count = static_cast<int>(batch.runtimes.size());
    const auto fastest = std::min_element(batch.runtimes.begin(), batch.runtimes.end());

    const halide_dimension_t pipeline_shape[] = {
        {0, kHead1Width, kHead1Height}, {0, kHead1Height, 1}, {0, stages, kNumNetworkFeatures}};
    Buffer<float> pipeline(const_cast<float *>(batch.pipeline.features.data()), 3, pipeline_shape);
    Buffer<float> schedules = transposed_features(batch);
    Buffer<float> runtimes(const_cast<float *>(batch.runtimes.data()), count);
    std::array<Buffer<float>, kNumWeightBuffers> in, out;
    for (size_t i = 0; i < in.size(); i++) {
        in[i] = view_weights(weights_, i);
        const WeightBuffer &shape = kWeightBuffers[i];
        std::vector<int> extents(shape.extents.begin(), shape.extents.begin() + shape.dimensions);
        extents.push_back(static_cast<int>(kParts));
        out[i] = Buffer<float>(state_[i].data(), extents);
    }

    TrainingResult result;
    result.predictions.resize(batch.runtimes.size());
    result.stage_costs.resize(batch.runtimes.size() * static_cast<size_t>(stages));
    Buffer<float> predictions(result.predictions.data(), count), stage_costs(count, stages);
    Buffer<float> loss = Buffer<float>::make_scalar(&result.loss);
    check_compiled_call(train_cost_model(stages,
                                         count,
                                         batch.pipeline.num_cores,
                                         0,
                                         pipeline,
                                         schedules,
                                         in[0],
                                         in[1],
                                         in[2],
                                         in[3],
                                         in[4],
                                         in[5],
                                         learning_rate,
                                         timestep_,
                                         static_cast<int>(fastest - batch.runtimes.begin()),
                                         runtimes,
                                         out[0],
                                         out[1],
                                         out[2],
                                         out[3],
                                         out[4],
                                         out[5],
                                         predictions,
                                         stage_costs,
                                         loss),
                        "train_cost_model");
    timestep_++;
    for (size_t i = 0; i < state_.size(); i++) {
        const float *from = state_[i].data() + kNewWeights * kWeightBuffers[i].size();
        std::copy_n(from, kWeightBuffers[i].size(), weights_.buffers()[i]->begin());
    }
    for (int n = 0; n < count; n++) {
        for (int w = 0; w < stages; w++) {
            result.stage_costs[static_cast<size_t>(n) * static_cast<size_t>(stages) +
                               static_cast<size_t>(w)] = stage_costs(n, w);
        }
    }
    return result;
}

}  // namespace anderson2021
