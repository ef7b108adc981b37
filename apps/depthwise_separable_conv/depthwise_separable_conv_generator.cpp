// Depthwise separable convolution layer: a 3x3 filter per channel, then a mix of the channels.
//
// Algorithm: A. G. Howard et al., "MobileNets: Efficient convolutional neural networks for mobile
// vision applications", 2017: a depthwise and a pointwise convolution, bias, rectification. Zeros
// surround the input, so that the output is as large. Buffers are channel-first: (channel, x, y,
// image). The numbers of channels are parameters; the other sizes are free at run time.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class DepthwiseSeparableConv : public Generator<DepthwiseSeparableConv> {
public:
    GeneratorParam<int> batch{"batch", 4, 1, 1024};
    GeneratorParam<int> channels_in{"channels_in", 32, 1, 4096};
    GeneratorParam<int> channels_out{"channels_out", 16, 1, 4096};
    GeneratorParam<int> width{"width", 112, 1, 65536};
    GeneratorParam<int> height{"height", 112, 1, 65536};

    Input<Buffer<float, 4>> input{"input"};
    Input<Buffer<float, 3>> depthwise_filter{"depthwise_filter"};
    Input<Buffer<float, 2>> pointwise_filter{"pointwise_filter"};
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        const Expr none;
        padded = BoundaryConditions::constant_exterior(
            input, 0.0f, {{none, none}, {0, input.dim(1).extent()}, {0, input.dim(2).extent()}});

        RDom tap(0, 3, 0, 3, "tap");
        depthwise(c, x, y, n) = 0.0f;
        depthwise(c, x, y, n) +=
            depthwise_filter(c, tap.x, tap.y) * padded(c, x + tap.x - 1, y + tap.y - 1, n);

        channel = RDom(0, channels_in, "channel");
        pointwise(c, x, y, n) = bias(c);
        pointwise(c, x, y, n) += pointwise_filter(c, channel) * depthwise(channel, x, y, n);
        output(c, x, y, n) = max(pointwise(c, x, y, n), 0.0f);

        output.dim(0).set_bounds(0, channels_out);
        input.dim(0).set_bounds(0, channels_in);
        input.dim(1).set_min(0);
        input.dim(2).set_min(0);
        depthwise_filter.dim(0).set_bounds(0, channels_in);
        depthwise_filter.dim(1).set_bounds(0, 3);
        depthwise_filter.dim(2).set_bounds(0, 3);
        pointwise_filter.dim(0).set_bounds(0, channels_out);
        pointwise_filter.dim(1).set_bounds(0, channels_in);
        bias.dim(0).set_bounds(0, channels_out);
        input.set_estimates({{0, channels_in}, {0, width}, {0, height}, {0, batch}});
        depthwise_filter.set_estimates({{0, channels_in}, {0, 3}, {0, 3}});
        pointwise_filter.set_estimates({{0, channels_out}, {0, channels_in}});
        bias.set_estimates({{0, channels_out}});
        output.set_estimates({{0, channels_out}, {0, width}, {0, height}, {0, batch}});
    }

    void schedule() {
        if (using_autoscheduler() ||
            APP_REPLAY_SCHEDULE(apply_schedule_depthwise_separable_conv_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // A block makes 8x4 pixels of all output channels: the filtered input channels of these
            // pixels go through shared memory, and a thread keeps four results of one channel in
            // registers, so that each weight is used four times.
            Var ci("ci"), xi("xi"), yi("yi");
            output.split(x, x, xi, 8, TailStrategy::GuardWithIf)
                .split(y, y, yi, 4, TailStrategy::GuardWithIf)
                .split(c, c, ci, 16, TailStrategy::GuardWithIf)
                .reorder(yi, ci, xi, c, x, y, n)
                .unroll(yi)
                .gpu_blocks(x, y, n)
                .gpu_threads(ci, xi);
            pointwise.compute_at(output, ci).bound_extent(y, 4).unroll(y);
            pointwise.update().reorder(y, channel).unroll(y);
            depthwise.compute_at(output, x);
            for (Stage stage : {Stage(depthwise), Stage(depthwise.update())}) {
                stage.split(c, c, ci, 16, TailStrategy::GuardWithIf).gpu_threads(ci, x);
            }
            depthwise.update().reorder(ci, x, c, y);
        } else {
            Var yn("yn");
            output.fuse(y, n, yn).parallel(yn).vectorize(c, 8, TailStrategy::GuardWithIf);
            pointwise.compute_at(output, x).vectorize(c, 8);
            pointwise.update().reorder(c, channel).vectorize(c, 8, TailStrategy::GuardWithIf);
            depthwise.compute_at(output, x).vectorize(c, 8);
            depthwise.update().vectorize(c, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    Var c{"c"}, x{"x"}, y{"y"}, n{"n"};
    RDom channel;
    Func padded, depthwise{"depthwise"}, pointwise{"pointwise"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(DepthwiseSeparableConv, depthwise_separable_conv)
