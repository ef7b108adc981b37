// Convolution layer of a neural network: 3x3 convolution, bias, rectification.
//
// Algorithm: direct convolution, see V. Dumoulin and F. Visin, "A guide to convolution arithmetic
// for deep learning", 2016. Buffers are channel-first: (channel, x, y, image). The numbers of
// channels are parameters; width, height and number of images are free at run time.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class ConvLayer : public Generator<ConvLayer> {
public:
    GeneratorParam<int> batch{"batch", 5, 1, 1024};
    GeneratorParam<int> channels_in{"channels_in", 128, 1, 4096};
    GeneratorParam<int> channels_out{"channels_out", 128, 1, 4096};
    GeneratorParam<int> width{"width", 100, 1, 65536};
    GeneratorParam<int> height{"height", 80, 1, 65536};

    Input<Buffer<float, 4>> input{"input"};
    Input<Buffer<float, 4>> filter{"filter"};
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> relu{"relu"};

    void generate() {
        r = RDom(0, channels_in, 0, 3, 0, 3, "r");
        conv(c, x, y, n) = bias(c);
        conv(c, x, y, n) += filter(c, r.y, r.z, r.x) * input(r.x, x + r.y, y + r.z, n);
        relu(c, x, y, n) = max(0.0f, conv(c, x, y, n));

        relu.dim(0).set_bounds(0, channels_out);
        bias.dim(0).set_bounds(0, channels_out);
        filter.dim(0).set_bounds(0, channels_out);
        filter.dim(1).set_bounds(0, 3);
        filter.dim(2).set_bounds(0, 3);
        filter.dim(3).set_bounds(0, channels_in);
        input.dim(0).set_bounds(0, channels_in);
        input.set_estimates({{0, channels_in}, {0, width + 2}, {0, height + 2}, {0, batch}});
        filter.set_estimates({{0, channels_out}, {0, 3}, {0, 3}, {0, channels_in}});
        bias.set_estimates({{0, channels_out}});
        relu.set_estimates({{0, channels_out}, {0, width}, {0, height}, {0, batch}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_conv_layer_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // A warp spans 32 output channels, so that filter reads coalesce and input reads are
            // broadcast. A thread keeps 4 pixels of one channel in registers: each filter value
            // is used four times. Needs a width of at least 4.
            Var ci("ci"), xi("xi"), yi("yi");
            relu.split(c, c, ci, 32, TailStrategy::GuardWithIf)
                .split(x, x, xi, 4, TailStrategy::ShiftInwards)
                .split(y, y, yi, 4, TailStrategy::GuardWithIf)
                .fuse(y, n, n)
                .reorder(xi, ci, yi, c, x, n)
                .unroll(xi)
                .gpu_blocks(c, x, n)
                .gpu_threads(ci, yi);
            conv.compute_at(relu, ci).bound_extent(x, 4).unroll(x);
            conv.update().reorder(x, r.x, r.y, r.z).unroll(x);
        } else {
            Var ci("ci"), xi("xi"), yn("yn");
            relu.split(x, x, xi, 4, TailStrategy::GuardWithIf)
                .fuse(y, n, yn)
                .reorder(c, xi, x, yn)
                .parallel(yn)
                .vectorize(c, 8, TailStrategy::GuardWithIf);
            conv.compute_at(relu, x).vectorize(c, 8);
            conv.update().reorder(c, x, r.x, r.y, r.z).vectorize(c, 8);
        }
    }

private:
    Var c{"c"}, x{"x"}, y{"y"}, n{"n"};
    RDom r;
    Func conv{"conv"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(ConvLayer, conv_layer)
