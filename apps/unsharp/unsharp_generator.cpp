// Unsharp masking: adds to the brightness its difference from a blurred copy.
//
// Algorithm: the classic darkroom method in its digital form, see R. C. Gonzalez and R. E. Woods,
// "Digital Image Processing", chapter on sharpening spatial filters. The blur is a separable
// Gaussian, sigma 1.5, seven taps; the colours are scaled by the ratio of the brightnesses.
// Input is RGB in [0, 1], continued beyond its border by its edge pixels.
#include <array>
#include <cmath>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class Unsharp : public Generator<Unsharp> {
public:
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        Func clamped = BoundaryConditions::repeat_edge(input);
        gray(x, y) =
            0.299f * clamped(x, y, 0) + 0.587f * clamped(x, y, 1) + 0.114f * clamped(x, y, 2);

        blur_y(x, y) = blurred([&](int offset) { return gray(x, y + offset); });
        blur_x(x, y) = blurred([&](int offset) { return blur_y(x + offset, y); });

        Func sharpen("sharpen");
        sharpen(x, y) = 2.0f * gray(x, y) - blur_x(x, y);
        // Black pixels stay black whatever the ratio is; it only must be finite.
        ratio(x, y) = sharpen(x, y) / max(gray(x, y), 1.0f / 4096.0f);
        output(x, y, c) = ratio(x, y) * input(x, y, c);

        input.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_unsharp_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // One kernel: brightness and its vertical blur of a tile in shared memory; a thread
            // makes four pixels and computes the ratio once for the three channels.
            Var xi("xi"), yi("yi"), yii("yii"), u("u"), v("v");
            output.split(x, x, xi, 32, TailStrategy::GuardWithIf)
                .split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .split(yi, yi, yii, 4)
                .reorder(c, yii, xi, yi, x, y)
                .unroll(c)
                .unroll(yii)
                .gpu_blocks(x, y)
                .gpu_threads(xi, yi);
            ratio.compute_at(output, yii);
            for (Func stage : {gray, blur_y}) {
                stage.compute_at(output, x)
                    .split(x, x, u, 32, TailStrategy::RoundUp)
                    .split(y, y, v, 8, TailStrategy::RoundUp)
                    .reorder(u, v, x, y)
                    .gpu_threads(u, v);
            }
        } else {
            Var yi("yi");
            output.split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .reorder(x, c, yi, y)
                .parallel(y)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
            ratio.compute_at(output, yi).vectorize(x, 8);
            blur_y.compute_at(output, yi).vectorize(x, 8);
            gray.store_at(output, y).compute_at(output, yi).vectorize(x, 8);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"};
    Func gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, ratio{"ratio"};

    // Weighted sum of seven samples; `sample(k)` is the one k pixels away.
    template<typename Sample>
    static Expr blurred(const Sample &sample) {
        constexpr int radius = 3;
        constexpr double sigma = 1.5;
        std::array<double, radius + 1> weight;
        double total = 0;
        for (int k = 0; k <= radius; k++) {
            weight[k] = std::exp(-k * k / (2 * sigma * sigma));
            total += (k == 0 ? 1 : 2) * weight[k];
        }
        Expr sum = sample(0) * float(weight[0] / total);
        for (int k = 1; k <= radius; k++) {
            sum += (sample(-k) + sample(k)) * float(weight[k] / total);
        }
        return sum;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Unsharp, unsharp)
