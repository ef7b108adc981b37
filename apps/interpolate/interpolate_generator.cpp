// Fills the transparent parts of a picture smoothly from what surrounds them.
//
// Algorithm: push and pull of S. J. Gortler, R. Grzeszczuk, R. Szeliski and M. F. Cohen, "The
// Lumigraph", SIGGRAPH 1996: a pyramid of colours multiplied by their opacity is built downwards;
// on the way up, every level shows the coarser one through as far as it is transparent itself.
// Input is RGBA in [0, 1], continued by its edge pixels; the output is RGB.
#include <string>
#include <vector>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class Interpolate : public Generator<Interpolate> {
public:
    GeneratorParam<int> levels{"levels", 10, 2, 16};
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        Func clamped = BoundaryConditions::repeat_edge(input);
        Func premultiplied("downsampled_0");
        const Expr alpha = clamped(x, y, 3);
        premultiplied(x, y, c) = select(c < 3, clamped(x, y, c) * alpha, alpha);
        downsampled.push_back(premultiplied);
        for (int l = 1; l < levels; l++) {
            downsampled.push_back(half_size(l));
        }

        interpolated.resize(downsampled.size());
        interpolated.back() = downsampled.back();
        for (int l = levels - 2; l >= 0; l--) {
            interpolated[size_t(l)] = filled(l);
        }
        // Holes that even the coarsest level does not fill stay black.
        constexpr float tiny = 1.0f / 65536;
        output(x, y, c) = interpolated[0](x, y, c) / max(interpolated[0](x, y, 3), tiny);

        input.dim(2).set_bounds(0, 4);
        output.dim(2).set_bounds(0, 3);
        input.set_estimates({{0, width}, {0, height}, {0, 4}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_interpolate_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // Two kernels per level, one downwards and one upwards. A thread makes the four
            // channels of a pixel, so that the opacity is read once.
            Var xi("xi"), yi("yi");
            std::vector<Func> kernels(downsampled.begin() + 1, downsampled.end());
            kernels.insert(kernels.end(), interpolated.begin() + 1, interpolated.end() - 1);
            for (Func f : kernels) {
                f.compute_root().bound(c, 0, 4).reorder(c, x, y).unroll(c).gpu_tile(
                    x, y, xi, yi, 32, 8);
            }
            output.reorder(c, x, y).unroll(c).gpu_tile(
                x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
            interpolated[0].compute_at(output, xi).bound(c, 0, 4).unroll(c);
        } else {
            for (size_t l = 1; l < downsampled.size(); l++) {
                downsampled[l].compute_root().parallel(y, 8).vectorize(x, 8);
            }
            for (size_t l = 0; l + 1 < interpolated.size(); l++) {
                interpolated[l].compute_root().parallel(y, 8).vectorize(x, 8);
            }
            output.reorder(c, x, y)
                .unroll(c)
                .parallel(y, 8, TailStrategy::GuardWithIf)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"};
    std::vector<Func> downsampled, interpolated;

    std::string level_name(const std::string &name, int l) const {
        return name + "_" + std::to_string(l);
    }

    // Level l of the pyramid from level l - 1: every other pixel of a (1 2 1) / 4 blur.
    Func half_size(int l) {
        Func finer = downsampled[size_t(l) - 1];
        // What a level needs beyond the picture doubles with each finer level. Edge pixels of a
        // level in the middle stop this growth.
        if (l == 4) {
            const Expr columns = input.dim(0).extent(), rows = input.dim(1).extent();
            const Expr left = input.dim(0).min(), top = input.dim(1).min(), none;
            finer = BoundaryConditions::repeat_edge(
                finer,
                {{left >> 3, (columns >> 3) + 1}, {top >> 3, (rows >> 3) + 1}, {none, none}});
        }
        Func downx(level_name("downx", l)), result(level_name("downsampled", l));
        downx(x, y, c) =
            (finer(2 * x - 1, y, c) + 2.0f * finer(2 * x, y, c) + finer(2 * x + 1, y, c)) * 0.25f;
        result(x, y, c) =
            (downx(x, 2 * y - 1, c) + 2.0f * downx(x, 2 * y, c) + downx(x, 2 * y + 1, c)) * 0.25f;
        return result;
    }

    // Level l with the filled coarser level behind it.
    Func filled(int l) {
        const Func &own = downsampled[size_t(l)], &coarser = interpolated[size_t(l) + 1];
        Func upx(level_name("upx", l)), upsampled(level_name("upsampled", l)),
            result(level_name("interpolated", l));
        upx(x, y, c) = (coarser(x / 2, y, c) + coarser((x + 1) / 2, y, c)) * 0.5f;
        upsampled(x, y, c) = (upx(x, y / 2, c) + upx(x, (y + 1) / 2, c)) * 0.5f;
        result(x, y, c) = own(x, y, c) + (1.0f - own(x, y, 3)) * upsampled(x, y, c);
        return result;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Interpolate, interpolate)
