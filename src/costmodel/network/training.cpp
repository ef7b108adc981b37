#include "costmodel/network/training.h"

namespace anderson2021 {
namespace network {

using namespace Halide;

TrainingStep::TrainingStep(const TrainingInputs &inputs,
                           const AlgorithmEmbedding &embedding,
                           const ScheduleLayers &layers,
                           const std::vector<CostTerm<Expr>> &terms,
                           const Func &prediction)
    : in_(inputs), layers_(layers) {
    define_loss(prediction);
    define_multipliers(terms);
    define_coefficient_gradients(embedding);
    define_schedule_gradients();
    define_algorithm_gradients(embedding);

    const Expr step = cast<double>(in_.timestep) + Expr(1.0);
    const Var which("which");
    // In double precision, because 0.999^t is close to 1.
    const Expr decay = select(which == 0, Expr(kMeanDecay), Expr(kVarianceDecay));
    corrections_(which) = cast<float>(Expr(1.0) / (Expr(1.0) - pow(decay, step)));
    for (size_t i = 0; i < updated_.size(); i++) {
        define_update(i);
    }
}

void TrainingStep::define_loss(const Func &prediction) {
    const auto &[c, x, y, s, w, n] = vars();
    scale_() = 1.0f / in_.true_runtime(clamp(in_.reference, 0, in_.batch_size - 1));

    const Expr relative = prediction(n) * scale_();
    const Expr clamped = max(relative, kSmallestPrediction);
    const Expr error = 1.0f / clamped - 1.0f / (in_.true_runtime(n) * scale_());
    // The clamp is flat, so predictions below it get no gradient from the error.
    d_prediction_(n) = select(
        relative >= kSmallestPrediction, -2.0f * error / (clamped * clamped) * scale_(), 0.0f);

    RDom dead(0, kConv1Channels, 0, in_.num_stages, "dead");
    stage_loss_(n) = error * error;
    stage_loss_(n) += kRegularization * -min(layers_.trunk(dead.x, dead.y, n), 0.0f);
    RDom batch(0, in_.batch_size, "batch");
    loss_() = 0.0f;
    loss_() += stage_loss_(batch);
}

void TrainingStep::define_multipliers(const std::vector<CostTerm<Expr>> &terms) {
    const auto &[c, x, y, s, w, n] = vars();
    std::vector<Expr> by_coefficient(kConv1Channels, Expr(0.0f));
    for (const CostTerm<Expr> &term : terms) {
        by_coefficient[static_cast<size_t>(term.coefficient)] =
            term.multiplier * kMillisecondsPerUnit;
    }
    multipliers_(c, w, n) = mux(c, by_coefficient);
}

void TrainingStep::define_coefficient_gradients(const AlgorithmEmbedding &embedding) {
    const auto &[c, x, y, s, w, n] = vars();
    const Expr before = layers_.trunk(c, w, n);
    d_trunk_(c, w, n) = d_prediction_(n) * multipliers_(c, w, n) * leaky_slope(before) -
                        select(before <= 0.0f, kRegularization, 0.0f);
    RDom batch(0, in_.batch_size, "batch");
    d_trunk_batch_(c, w) = 0.0f;
    d_trunk_batch_(c, w) += d_trunk_(c, w, batch);

    RDom stage(0, in_.num_stages, "stage");
    Func &d_bias = gradients_[5];
    d_bias = Func("d_conv1_bias");
    d_bias(c) = 0.0f;
    d_bias(c) += d_trunk_batch_(c, stage);

    // The filter has one half for each embedding; the algorithm's is the same for all schedules.
    const Var k("k");
    d_filter_head1_(c, k) = 0.0f;
    d_filter_head1_(c, k) += d_trunk_batch_(c, stage) * embedding.head1(k, stage);
    RDom all(0, in_.num_stages, 0, in_.batch_size, "all");
    d_filter_head2_(c, k) = 0.0f;
    d_filter_head2_(c, k) += d_trunk_(c, all.x, all.y) * layers_.relu2(k, all.x, all.y);
    gradients_[4] = Func("d_conv1_filter");
    gradients_[4](c, k) = select(k < kHead1Channels,
                                 d_filter_head1_(c, min(k, kHead1Channels - 1)),
                                 d_filter_head2_(c, max(k - kHead1Channels, 0)));
}

void TrainingStep::define_schedule_gradients() {
    const auto &[c, x, y, s, w, n] = vars();
    const Var k("k");
    transposed_filter_(c, k) = in_.weights[4](k, kHead1Channels + c);
    RDom coefficient(0, kConv1Channels, "coefficient");
    d_relu2_(c, w, n) = 0.0f;
    d_relu2_(c, w, n) += transposed_filter_(c, coefficient) * d_trunk_(coefficient, w, n);
    d_head2_(c, w, n) = d_relu2_(c, w, n) * leaky_slope(layers_.head2(c, w, n));

    RDom all(0, in_.num_stages, 0, in_.batch_size, "all");
    Func &d_filter = gradients_[2], &d_bias = gradients_[3];
    d_filter = Func("d_head2_filter");
    d_filter(c, s) = 0.0f;
    d_filter(c, s) += d_head2_(c, all.x, all.y) * layers_.normalized(all.y, s, all.x);
    d_bias = Func("d_head2_bias");
    d_bias(c) = 0.0f;
    d_bias(c) += d_head2_(c, all.x, all.y);
}

void TrainingStep::define_algorithm_gradients(const AlgorithmEmbedding &embedding) {
    const auto &[c, x, y, s, w, n] = vars();
    RDom coefficient(0, kConv1Channels, "coefficient");
    d_head1_(c, w) = 0.0f;
    d_head1_(c, w) += in_.weights[4](coefficient, c) * d_trunk_batch_(coefficient, w);

    RDom stage(0, in_.num_stages, "stage");
    Func &d_filter = gradients_[0], &d_bias = gradients_[1];
    d_bias = Func("d_head1_bias");
    d_bias(c) = 0.0f;
    d_bias(c) += d_head1_(c, stage);
    d_squashed_(c, x, y) = 0.0f;
    d_squashed_(c, x, y) += d_head1_(c, stage) * in_.pipeline_features(x, y, stage);
    const Expr q = embedding.squashed(c, x, y);
    d_filter = Func("d_head1_filter");
    d_filter(c, x, y) = d_squashed_(c, x, y) * q * (1.0f - q);
}

void TrainingStep::define_update(size_t i) {
    const Func &weights = in_.weights[i];
    const std::vector<Var> at = gradients_[i].args();
    const auto slot = [&](const Expr &k) {
        std::vector<Expr> args(at.begin(), at.end());
        args.push_back(k);
        return args;
    };
    const std::vector<Expr> here(at.begin(), at.end());
    std::vector<Var> all_args = at;
    all_args.emplace_back("slot");

    Func &out = updated_[i];
    static const char *const names[] = {
        "head1_filter", "head1_bias", "head2_filter", "head2_bias", "filter1", "bias1"};
    out = Func("updated_" + std::string(names[i]));
    // The means of earlier steps are what the caller's buffer holds.
    out(all_args) = undef<float>();
    const Expr gradient = gradients_[i](here);
    const auto mean_decay = static_cast<float>(kMeanDecay);
    const auto variance_decay = static_cast<float>(kVarianceDecay);
    out(slot(kGradient)) = gradient;
    out(slot(kMean)) = mean_decay * out(slot(kMean)) + (1.0f - mean_decay) * gradient;
    out(slot(kVariance)) =
        variance_decay * out(slot(kVariance)) + (1.0f - variance_decay) * gradient * gradient;
    const Expr mean = out(slot(kMean)) * corrections_(0);
    const Expr variance = out(slot(kVariance)) * corrections_(1);
    out(slot(kNewWeight)) =
        weights(here) - in_.learning_rate * mean / (sqrt(variance) + kAdamEpsilon);
}

Expr TrainingStep::loss() const {
    return loss_();
}

void TrainingStep::schedule(int vector_size) {
    for (Func f : {scale_, stage_loss_, d_prediction_, loss_, corrections_, d_head1_}) {
        f.compute_root();
    }
    // All multipliers of a stage at once, because they share most of their subexpressions.
    const Vars &v = vars();
    multipliers_.compute_root()
        .bound(v.c, 0, kConv1Channels)
        .reorder(v.c, v.n, v.w)
        .vectorize(v.n, vector_size, TailStrategy::GuardWithIf)
        .unroll(v.c);
    // Channels are the vector dimension of everything that is summed up over stages or schedules.
    for (Func f : {d_trunk_, d_head2_, transposed_filter_, gradients_[0], gradients_[4]}) {
        f.compute_root().vectorize(f.args()[0], vector_size);
    }
    for (Func f : {d_trunk_batch_,
                   d_filter_head1_,
                   d_filter_head2_,
                   d_squashed_,
                   gradients_[1],
                   gradients_[2],
                   gradients_[3],
                   gradients_[5]}) {
        const std::vector<Var> args = f.args();
        const Var channel = args[0];
        f.compute_root().vectorize(channel, vector_size);
        // Sums over the batch run over it outermost: what they read is then contiguous, and the
        // sums themselves fit the nearest cache.
        std::vector<VarOrRVar> order(args.begin(), args.end());
        for (const RVar &r : f.rvars(0)) {
            order.emplace_back(r);
        }
        f.update().reorder(order).vectorize(channel, vector_size);
    }
    const RVar coefficient(d_relu2_.rvars(0)[0]);
    d_relu2_.compute_root().vectorize(v.c, vector_size);
    d_relu2_.update().reorder(v.c, coefficient, v.w, v.n).vectorize(v.c, vector_size);
    for (Func f : updated_) {
        for (int update = 0; update < f.num_update_definitions(); update++) {
            f.update(update).vectorize(f.args()[0], vector_size);
        }
    }
}

}  // namespace network
}  // namespace anderson2021
