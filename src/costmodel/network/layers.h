// The network itself, as Halide Funcs: shared by all generators of this folder.
//
// A stage goes through two embeddings, one of its algorithm features (the same for all schedules
// of a pipeline, so it can be computed ahead) and one of its schedule features, and a layer that
// joins them into 32 coefficients. Funcs are only defined here; each generator schedules them.
#pragma once

#include <functional>

#include "Halide.h"

#include "costmodel/network/cost_terms.h"
#include "costmodel/network_shape.h"

namespace anderson2021 {
namespace network {

/// Slope of the activation below zero: enough of a gradient to be no wall, too little to matter.
constexpr float kLeak = 1e-10f;

/// max(v, 0) with a tiny slope below zero.
Halide::Expr leaky(const Halide::Expr &v);
/// Its derivative; at exactly zero both branches count.
Halide::Expr leaky_slope(const Halide::Expr &v);

/// Funcs over (channel c, stage w); `squashed` over (c, kind x, type y).
struct AlgorithmEmbedding {
    Halide::Func squashed{"squashed"}, head1{"head1"}, trunk{"algorithm_trunk"};
};
struct AlgorithmLayerInputs {
    /// Over (x, y, w).
    Halide::Func pipeline_features;
    Halide::Func head1_filter, head1_bias, filter1, bias1;
};
/// The first layers: `trunk` is their share in the sum that makes up a coefficient.
AlgorithmEmbedding embed_algorithm(const AlgorithmLayerInputs &inputs);

/// Funcs over (c, w, schedule n); `normalized` over (n, feature s, w).
struct ScheduleLayers {
    Halide::Func normalized{"normalized"}, head2{"head2"}, relu2{"relu2"};
    Halide::Func trunk{"trunk"}, coefficients{"coefficients"};
};
struct ScheduleLayerInputs {
    /// Raw, over (n, s, w).
    Halide::Func features;
    /// The algorithm's share, over (c, w, n).
    Halide::Func algorithm_trunk;
    Halide::Func head2_filter, head2_bias, filter1;
};
/// From the features of a schedule to coefficients.
ScheduleLayers embed_schedule(const ScheduleLayerInputs &inputs);

/// The cost terms of schedule n, stage w; `features` over (n, s, w).
std::vector<CostTerm<Halide::Expr>> stage_terms(const Halide::Func &features,
                                                const Halide::Expr &n,
                                                const Halide::Expr &w,
                                                const Halide::Expr &num_cores);
/// Their sum in ms. Adds up in the order of the table, whatever the vector width.
Halide::Expr stage_cost(const Halide::Func &coefficients,
                        const std::vector<CostTerm<Halide::Expr>> &terms,
                        const Halide::Expr &n,
                        const Halide::Expr &w);

/// The Vars that the Funcs above are defined with.
struct Vars {
    Halide::Var c{"c"}, x{"x"}, y{"y"}, s{"s"}, w{"w"}, n{"n"};
};
const Vars &vars();

/// Schedules the layers for prediction inside loop `at` of `consumer`, which covers a vector's
/// worth of n: n is the vector dimension everywhere, channels are register tiles.
void schedule_for_prediction(const ScheduleLayers &layers,
                             const Halide::Func &consumer,
                             const Halide::Var &at,
                             int vector_size);
/// Computes everything once, vectorized over channels.
void schedule_embedding(const AlgorithmEmbedding &embedding, int vector_size);

}  // namespace network
}  // namespace anderson2021
