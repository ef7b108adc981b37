// The two halves of prediction as the search needs them.
//
// `cost_embedding` computes, once per pipeline, what does not depend on the schedule.
// `cost_rows` then predicts any number of (stage, features) rows, each on its own. Splitting the
// network there makes a call as cheap as the rows in it.
#include "Halide.h"

#include "costmodel/network/layers.h"

namespace {

using namespace Halide;
using namespace anderson2021;

class CostEmbedding : public Generator<CostEmbedding> {
public:
    Input<Buffer<float, 3>> pipeline_features{"pipeline_features"};
    Input<Buffer<float, 3>> head1_filter{"head1_filter"};
    Input<Buffer<float, 1>> head1_bias{"head1_bias"};
    Input<Buffer<float, 2>> filter1{"filter1"};
    Input<Buffer<float, 1>> bias1{"bias1"};
    /// [32, stages].
    Output<Buffer<float, 2>> algorithm_trunk{"algorithm_trunk"};

    void generate() {
        const network::Vars &v = network::vars();
        embedding =
            network::embed_algorithm({pipeline_features, head1_filter, head1_bias, filter1, bias1});
        algorithm_trunk(v.c, v.w) = embedding.trunk(v.c, v.w);
    }

    void schedule() {
        // Kind-major records can be passed as they are.
        pipeline_features.dim(0).set_stride(Expr()).set_bounds(0, kHead1Width);
        pipeline_features.dim(1).set_bounds(0, kHead1Height);
        head1_filter.dim(0).set_bounds(0, kHead1Channels);
        head1_filter.dim(1).set_bounds(0, kHead1Width).set_stride(kHead1Channels);
        head1_filter.dim(2).set_bounds(0, kHead1Height).set_stride(kHead1Channels * kHead1Width);
        filter1.dim(0).set_bounds(0, kConv1Channels);
        filter1.dim(1).set_bounds(0, kConv1Channels).set_stride(kConv1Channels);
        algorithm_trunk.dim(0).set_bounds(0, kConv1Channels);
        algorithm_trunk.dim(1).set_stride(kConv1Channels);
        network::schedule_embedding(embedding, natural_vector_size<float>());
    }

private:
    network::AlgorithmEmbedding embedding;
};

class CostRows : public Generator<CostRows> {
public:
    Input<int> num_cores{"num_cores", 1};
    /// [32, stages], from cost_embedding.
    Input<Buffer<float, 2>> algorithm_trunk{"algorithm_trunk"};
    /// [rows]: the stage of each row.
    Input<Buffer<int32_t, 1>> positions{"positions"};
    /// [73, rows].
    Input<Buffer<float, 2>> features{"features"};
    Input<Buffer<float, 2>> head2_filter{"head2_filter"};
    Input<Buffer<float, 1>> head2_bias{"head2_bias"};
    Input<Buffer<float, 2>> filter1{"filter1"};
    /// [rows], ms.
    Output<Buffer<float, 1>> cost{"cost"};

    void generate() {
        const auto &[c, x, y, s, w, n] = network::vars();
        // Rows are padded to whole vectors by repeating the last one, so that each row is computed
        // by the same instructions whatever its place: equal rows have equal bits.
        const Expr row = min(n, positions.dim(0).extent() - 1);
        raw(n, s, w) = features(s, row);
        stage(n) = clamp(positions(row), 0, algorithm_trunk.dim(1).extent() - 1);
        start(c, w, n) = algorithm_trunk(c, stage(n));
        layers = network::embed_schedule({raw, start, head2_filter, head2_bias, filter1});
        const auto terms = network::stage_terms(raw, n, 0, num_cores);
        padded_cost(n) = network::stage_cost(layers.coefficients, terms, n, 0);
        cost(n) = padded_cost(n);
    }

    void schedule() {
        // One record is a position followed by its features.
        positions.dim(0).set_min(0).set_stride(Expr());
        features.dim(0).set_bounds(0, kHead2Width);
        algorithm_trunk.dim(0).set_bounds(0, kConv1Channels);
        algorithm_trunk.dim(1).set_min(0).set_stride(kConv1Channels);
        head2_filter.dim(0).set_bounds(0, kHead2Channels);
        head2_filter.dim(1).set_bounds(0, kHead2Width).set_stride(kHead2Channels);
        filter1.dim(0).set_bounds(0, kConv1Channels);
        filter1.dim(1).set_bounds(0, kConv1Channels).set_stride(kConv1Channels);

        const network::Vars &v = network::vars();
        const int lanes = natural_vector_size<float>();
        Var tile("tile"), lane("lane");
        padded_cost.compute_root()
            .split(v.n, tile, lane, lanes, TailStrategy::RoundUp)
            .vectorize(lane);
        raw.compute_at(padded_cost, tile).reorder(v.s, v.n).unroll(v.n);
        stage.compute_at(padded_cost, tile);
        network::schedule_for_prediction(layers, padded_cost, tile, lanes);
    }

private:
    Func raw{"raw"}, stage{"stage"}, start{"start"}, padded_cost{"padded_cost"};
    network::ScheduleLayers layers;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(CostEmbedding, cost_embedding)
HALIDE_REGISTER_GENERATOR(CostRows, cost_rows)
