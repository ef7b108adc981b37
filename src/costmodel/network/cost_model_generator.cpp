// The whole network over a batch of schedules: prediction (`cost_model`) and one training step
// (`train_cost_model`).
//
// Both take the same arguments in the same order; training has the updated weights as further
// outputs, ahead of the predictions. The gradient is written out layer by layer instead of derived
// automatically, so that every Func has a name and a schedule of its own.
#include <memory>
#include <type_traits>

#include "Halide.h"

#include "costmodel/network/layers.h"
#include "costmodel/network/training.h"

namespace {

using namespace Halide;
using namespace anderson2021;

template<bool training>
class CostModelGenerator : public Generator<CostModelGenerator<training>> {
    template<typename T>
    using Input = GeneratorInput<T>;
    template<typename T>
    using Output = GeneratorOutput<T>;

public:
    Input<int> num_stages{"num_stages", 1};
    Input<int> batch_size{"batch_size", 1};
    Input<int> num_cores{"num_cores", 1};
    /// Ignored; callers number their batches with it.
    Input<int> batch_id{"batch_id", 0};
    /// [40, 7, >= num_stages].
    Input<Buffer<float, 3>> pipeline_features{"pipeline_features"};
    /// [>= batch_size, 73, >= num_stages].
    Input<Buffer<float, 3>> schedule_features{"schedule_features"};
    Input<Buffer<float, 3>> head1_filter{"head1_filter"};
    Input<Buffer<float, 1>> head1_bias{"head1_bias"};
    Input<Buffer<float, 2>> head2_filter{"head2_filter"};
    Input<Buffer<float, 1>> head2_bias{"head2_bias"};
    Input<Buffer<float, 2>> filter1{"filter1"};
    Input<Buffer<float, 1>> bias1{"bias1"};
    // Used by training only; the buffer may be null in prediction.
    Input<float> learning_rate{"learning_rate", 1.0f};
    Input<int> timestep{"timestep", 0};
    /// Index of the fastest schedule.
    Input<int> reference{"reference", 0};
    /// [>= batch_size], ms.
    Input<Buffer<float, 1>> true_runtime{"true_runtime"};

    void configure() {
        if (training) {
            const char *const names[] = {
                "head1_filter", "head1_bias", "head2_filter", "head2_bias", "filter1", "bias1"};
            for (size_t i = 0; i < updated.size(); i++) {
                // One more dimension than the weights: see network/training.h.
                updated[i] = this->template add_output<Buffer<>>("updated_" + std::string(names[i]),
                                                                 Float(32),
                                                                 kWeightBuffers[i].dimensions + 1);
            }
        }
        // Added here because outputs are numbered in the order of their creation.
        prediction_output = this->template add_output<Buffer<>>("prediction_output", Float(32), 1);
        cost_per_stage_output =
            this->template add_output<Buffer<>>("cost_per_stage_output", Float(32), 2);
        loss_output = this->template add_output<Buffer<>>("loss_output", Float(32), 0);
    }

    void generate() {
        const auto &[c, x, y, s, w, n] = network::vars();
        embedding =
            network::embed_algorithm({pipeline_features, head1_filter, head1_bias, filter1, bias1});
        // Batches are padded to whole vectors by repeating the last schedule, so that the bits of
        // a prediction do not depend on its place in the batch.
        raw(n, s, w) = schedule_features(min(n, batch_size - 1), s, w);
        start(c, w, n) = embedding.trunk(c, w);
        layers = network::embed_schedule({raw, start, head2_filter, head2_bias, filter1});
        const auto terms = network::stage_terms(raw, n, w, num_cores);
        stage_cost(n, w) = network::stage_cost(layers.coefficients, terms, n, w);
        RDom stage(0, num_stages, "stage");
        prediction(n) = 0.0f;
        prediction(n) += stage_cost(n, stage);

        (*cost_per_stage_output)(n, w) = stage_cost(n, w);
        (*prediction_output)(n) = prediction(n);
        if (training) {
            network::TrainingInputs in;
            in.num_stages = num_stages;
            in.batch_size = batch_size;
            in.learning_rate = learning_rate;
            in.timestep = timestep;
            in.reference = reference;
            in.true_runtime = true_runtime;
            in.pipeline_features = pipeline_features;
            in.weights = {head1_filter, head1_bias, head2_filter, head2_bias, filter1, bias1};
            step =
                std::make_unique<network::TrainingStep>(in, embedding, layers, terms, prediction);
            (*loss_output)() = step->loss();
            for (size_t i = 0; i < updated.size(); i++) {
                *updated[i] = step->updated_weights(i);
            }
        } else {
            (*loss_output)() = 0.0f;
        }
    }

    void schedule() {
        constrain_shapes();
        const int lanes = this->template natural_vector_size<float>();
        network::schedule_embedding(embedding, lanes);
        if (training) {
            schedule_training(lanes);
        } else {
            schedule_prediction(lanes);
        }
    }

private:
    using Outputs = std::array<GeneratorOutput<Buffer<>> *, kNumWeightBuffers>;
    Outputs updated{};
    GeneratorOutput<Buffer<>> *prediction_output = nullptr, *cost_per_stage_output = nullptr,
                              *loss_output = nullptr;

    network::AlgorithmEmbedding embedding;
    network::ScheduleLayers layers;
    Func raw{"raw"}, start{"start"}, stage_cost{"stage_cost"}, prediction{"prediction"};
    std::unique_ptr<network::TrainingStep> step;

    template<typename BufferPort>
    static void fix_shape(BufferPort &buffer, const WeightBuffer &shape) {
        int stride = 1;
        for (int d = 0; d < shape.dimensions; d++) {
            const int extent = shape.extents[static_cast<size_t>(d)];
            buffer.dim(d).set_bounds(0, extent).set_stride(stride);
            stride *= extent;
        }
    }

    void constrain_shapes() {
        const auto &shapes = kWeightBuffers;
        fix_shape(head1_filter, shapes[0]);
        fix_shape(head1_bias, shapes[1]);
        fix_shape(head2_filter, shapes[2]);
        fix_shape(head2_bias, shapes[3]);
        fix_shape(filter1, shapes[4]);
        fix_shape(bias1, shapes[5]);
        // Features of a stage may be laid out in either order.
        pipeline_features.dim(0).set_bounds(0, kHead1Width).set_stride(Expr());
        pipeline_features.dim(1).set_bounds(0, kHead1Height);
        schedule_features.dim(0).set_min(0);
        schedule_features.dim(1).set_min(0).set_extent(kHead2Width);
        prediction_output->dim(0).set_bounds(0, batch_size);
        cost_per_stage_output->dim(0).set_bounds(0, batch_size);
        cost_per_stage_output->dim(1).set_bounds(0, num_stages);
        for (size_t i = 0; training && i < updated.size(); i++) {
            fix_shape(*updated[i], shapes[i]);
            updated[i]->dim(shapes[i].dimensions).set_bounds(0, network::kNumUpdateSlots);
        }
    }

    void schedule_prediction(int lanes) {
        const network::Vars &v = network::vars();
        Var tile("tile"), lane("lane");
        stage_cost.compute_root()
            .split(v.n, tile, lane, lanes, TailStrategy::RoundUp)
            .reorder(lane, v.w, tile)
            .vectorize(lane);
        raw.compute_at(stage_cost, v.w).reorder(v.n, v.s);
        network::schedule_for_prediction(layers, stage_cost, v.w, lanes);
    }

    void schedule_training(int lanes) {
        const network::Vars &v = network::vars();
        raw.compute_root();
        layers.normalized.compute_root().vectorize(v.n, lanes, TailStrategy::GuardWithIf);
        const int narrow = std::min(lanes, 8);  // divides all numbers of channels
        for (Func f : {layers.head2, layers.trunk}) {
            f.compute_root().vectorize(v.c, narrow);
            const RVar reduced(f.rvars(0)[0]);
            f.update().reorder(v.c, reduced, v.w, v.n).vectorize(v.c, narrow);
        }
        for (Func f : {layers.relu2, layers.coefficients}) {
            f.compute_root().vectorize(v.c, narrow);
        }
        stage_cost.compute_root();
        prediction.compute_root();
        step->schedule(narrow);
    }
};

using Predicting = CostModelGenerator<false>;
using Training = CostModelGenerator<true>;

}  // namespace

HALIDE_REGISTER_GENERATOR(Predicting, cost_model)
HALIDE_REGISTER_GENERATOR(Training, train_cost_model)
