#include "costmodel/network/layers.h"

namespace anderson2021 {
namespace network {

using namespace Halide;

namespace {

// Arithmetic of the cost terms on Halide expressions.
struct ExprOps {
    using Value = Expr;
    static Expr max(const Expr &a, const Expr &b) { return Halide::max(a, b); }
    static Expr ceil(const Expr &a) { return Halide::ceil(a); }
    static Expr select(const Expr &condition, const Expr &a, const Expr &b) {
        return Halide::select(condition, a, b);
    }
};

// Channels that are accumulated in registers at a time; divides both layers' channels.
constexpr int kRegisterTile = 8;

void schedule_layer(Func activated, Func accumulated, int vector_size) {
    const Vars &v = vars();
    Var outer("outer"), inner("inner");
    activated.reorder_storage(v.n, v.c, v.w)
        .split(v.c, outer, inner, kRegisterTile)
        .reorder(v.n, inner, outer)
        .vectorize(v.n, vector_size)
        .unroll(inner);
    accumulated.compute_at(activated, outer)
        .reorder_storage(v.n, v.c, v.w)
        .reorder(v.n, v.c)
        .vectorize(v.n, vector_size)
        .unroll(v.c);
    const RVar reduced(accumulated.rvars(0)[0]);
    accumulated.update().reorder(v.n, v.c, reduced).vectorize(v.n, vector_size).unroll(v.c);
}

}  // namespace

const Vars &vars() {
    static const Vars instance;
    return instance;
}

Expr leaky(const Expr &v) {
    return max(v, 0.0f) + min(v, 0.0f) * kLeak;
}

Expr leaky_slope(const Expr &v) {
    return select(v >= 0.0f, 1.0f, 0.0f) + select(v <= 0.0f, kLeak, 0.0f);
}

AlgorithmEmbedding embed_algorithm(const AlgorithmLayerInputs &inputs) {
    const auto &[c, x, y, s, w, n] = vars();
    AlgorithmEmbedding e;
    e.squashed(c, x, y) = 1.0f / (1.0f + exp(-inputs.head1_filter(c, x, y)));

    RDom kind(0, kHead1Width, 0, kHead1Height, "kind");
    e.head1(c, w) = inputs.head1_bias(c);
    e.head1(c, w) += e.squashed(c, kind.x, kind.y) * inputs.pipeline_features(kind.x, kind.y, w);

    RDom k(0, kHead1Channels, "head1_channel");
    e.trunk(c, w) = inputs.bias1(c);
    e.trunk(c, w) += inputs.filter1(c, k) * e.head1(k, w);
    return e;
}

ScheduleLayers embed_schedule(const ScheduleLayerInputs &inputs) {
    const auto &[c, x, y, s, w, n] = vars();
    ScheduleLayers l;
    l.normalized(n, s, w) = fast_log(inputs.features(n, s, w) + 1.0f);

    RDom r(0, kHead2Width, "feature");
    l.head2(c, w, n) = inputs.head2_bias(c);
    l.head2(c, w, n) += inputs.head2_filter(c, r) * l.normalized(n, r, w);
    l.relu2(c, w, n) = leaky(l.head2(c, w, n));

    RDom k(0, kHead2Channels, "head2_channel");
    l.trunk(c, w, n) = inputs.algorithm_trunk(c, w, n);
    l.trunk(c, w, n) += inputs.filter1(c, kHead1Channels + k) * l.relu2(k, w, n);
    l.coefficients(c, w, n) = leaky(l.trunk(c, w, n));
    return l;
}

std::vector<CostTerm<Expr>>
stage_terms(const Func &features, const Expr &n, const Expr &w, const Expr &num_cores) {
    const auto f = [&](int index) -> Expr { return features(n, index, w); };
    return cost_terms<ExprOps>(f, cast<float>(num_cores));
}

Expr stage_cost(const Func &coefficients,
                const std::vector<CostTerm<Expr>> &terms,
                const Expr &n,
                const Expr &w) {
    Expr sum = 0.0f;
    for (const CostTerm<Expr> &term : terms) {
        sum += coefficients(term.coefficient, w, n) * term.multiplier;
    }
    return sum * kMillisecondsPerUnit;
}

void schedule_for_prediction(const ScheduleLayers &layers,
                             const Func &consumer,
                             const Var &at,
                             int vector_size) {
    const Vars &v = vars();
    Func(layers.normalized).compute_at(consumer, at).vectorize(v.n, vector_size);
    Func(layers.relu2).compute_at(consumer, at);
    schedule_layer(layers.relu2, layers.head2, vector_size);
    Func(layers.coefficients).compute_at(consumer, at).bound(v.c, 0, kConv1Channels);
    schedule_layer(layers.coefficients, layers.trunk, vector_size);
}

void schedule_embedding(const AlgorithmEmbedding &embedding, int vector_size) {
    const Vars &v = vars();
    Func(embedding.squashed).compute_root().vectorize(v.c, kHead1Channels);
    Func(embedding.head1).compute_root().vectorize(v.c, kHead1Channels);
    Func(embedding.head1).update().vectorize(v.c, kHead1Channels);
    Func(embedding.trunk).compute_root().vectorize(v.c, vector_size);
    Func(embedding.trunk).update().vectorize(v.c, vector_size);
}

}  // namespace network
}  // namespace anderson2021
