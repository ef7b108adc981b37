// Local Laplacian filter: enhances details and compresses contrast without halos.
//
// Algorithm: S. Paris, S. W. Hasinoff and J. Kautz, "Local Laplacian filters: edge-aware image
// processing with a Laplacian pyramid", SIGGRAPH 2011, in the fast form of M. Aubry et al., "Fast
// local Laplacian filters", TOG 2014: the brightness is remapped around a few levels, a pyramid is
// built of each version, and every coefficient of the result is interpolated between two of them.
// Colours keep their ratio to the brightness. Input is RGB of 16 bits, continued by its edge
// pixels. The brightness is an integer, so that all schedules look up the same table entries.
#include <string>
#include <vector>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class LocalLaplacian : public Generator<LocalLaplacian> {
public:
    GeneratorParam<int> pyramid_levels{"pyramid_levels", 8, 2, 12};
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<uint16_t, 3>> input{"input"};
    // Number of brightness levels around which the picture is remapped.
    Input<int> levels{"levels", 8, 2, 64};
    // Strength of the details, and share of the large contrasts that remains.
    Input<float> alpha{"alpha", 1.0f, -10.0f, 10.0f};
    Input<float> beta{"beta", 1.0f, 0.0f, 10.0f};
    Output<Buffer<uint16_t, 3>> output{"output"};

    void generate() {
        clamped = BoundaryConditions::repeat_edge(input);
        define_brightness();
        for (int l = 1; l < pyramid_levels; l++) {
            remapped.push_back(half_size(remapped.back(), numbered("remapped", l)));
            gaussian.push_back(half_size(gaussian.back(), numbered("gaussian", l)));
        }
        result.resize(remapped.size());
        for (int l = pyramid_levels - 1; l >= 0; l--) {
            define_result(l);
        }

        // Scale the colours by the change of the brightness.
        constexpr float tiny = 0.01f;
        const Expr ratio = (result[0](x, y) + tiny) / (gaussian[0](x, y) + tiny);
        const Expr colour = cast<float>(clamped(x, y, c)) * ratio;
        output(x, y, c) = cast<uint16_t>(clamp(colour + 0.5f, 0.0f, 65535.0f));

        input.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        levels.set_estimate(8);
        alpha.set_estimate(1.0f);
        beta.set_estimate(1.0f);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_local_laplacian_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // Per level a kernel for the remapped pictures, one for the brightness, and one for the
            // result. The finest pictures are cheap enough to be made where they are read.
            Var xi("xi"), yi("yi"), ki("ki");
            table.compute_root().gpu_tile(i, xi, 32);
            luma.compute_root().gpu_tile(x, y, xi, yi, 32, 8);
            for (size_t l = 1; l < remapped.size(); l++) {
                remapped[l].compute_root().gpu_tile(
                    x, y, remapped[l].args()[2], xi, yi, ki, 32, 8, 1);
                gaussian[l].compute_root().gpu_tile(x, y, xi, yi, 32, 8);
                result[l].compute_root().gpu_tile(x, y, xi, yi, 32, 8);
            }
            output.reorder(c, x, y).unroll(c).gpu_tile(
                x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
            result[0].compute_at(output, xi);
        } else {
            table.compute_root();
            luma.compute_root().parallel(y, 16).vectorize(x, 16);
            for (size_t l = 0; l < remapped.size(); l++) {
                if (l > 0) {
                    remapped[l].compute_root().parallel(remapped[l].args()[2]).vectorize(x, 8);
                    gaussian[l].compute_root().parallel(y, 8).vectorize(x, 8);
                }
                result[l].compute_root().parallel(y, 8).vectorize(x, 8);
            }
            output.parallel(y, 16, TailStrategy::GuardWithIf)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    // Entries of the remapping table per level of brightness.
    static constexpr int steps = 256;

    Var x{"x"}, y{"y"}, c{"c"}, k{"k"}, i{"i"};
    Func clamped, luma{"luma"}, table{"table"};
    // By pyramid level: Gaussian pyramid of the remapped pictures, that of the brightness, and
    // the result as far as it is put together from the coarser levels.
    std::vector<Func> remapped, gaussian, result;

    static std::string numbered(const std::string &name, int l) {
        return name + "_" + std::to_string(l);
    }

    // Brightness, and what becomes of it around level k.
    void define_brightness() {
        const auto channel = [&](int index) { return cast<uint32_t>(clamped(x, y, index)); };
        luma(x, y) =
            cast<uint16_t>((77 * channel(0) + 150 * channel(1) + 29 * channel(2) + 128) >> 8);
        Func gray("gaussian_0");
        gray(x, y) = cast<float>(luma(x, y)) / 65535.0f;
        gaussian.push_back(gray);

        const Expr distance = cast<float>(i) / steps;
        table(i) = alpha * distance * exp(-distance * distance / 2.0f);

        Func around_level("remapped_0");
        const Expr last = (levels - 1) * steps;
        const Expr position = clamp(cast<int>(cast<uint32_t>(luma(x, y)) * last / 65535), 0, last);
        const Expr level = cast<float>(k) / (levels - 1);
        around_level(x, y, k) = beta * (gray(x, y) - level) + level + table(position - steps * k);
        remapped.push_back(around_level);
    }

    // Every other pixel of a (1 3 3 1) / 8 blur, in both directions.
    Func half_size(const Func &f, const std::string &name) const {
        Func downx(name + "_downx"), down(name);
        downx(x, y, _) = (f(2 * x - 1, y, _) + 3.0f * (f(2 * x, y, _) + f(2 * x + 1, y, _)) +
                          f(2 * x + 2, y, _)) /
                         8.0f;
        down(x, y, _) =
            (downx(x, 2 * y - 1, _) + 3.0f * (downx(x, 2 * y, _) + downx(x, 2 * y + 1, _)) +
             downx(x, 2 * y + 2, _)) /
            8.0f;
        return down;
    }

    // The picture twice as large, by bilinear interpolation.
    Func double_size(const Func &f, const std::string &name) const {
        Func upx(name + "_upx"), up(name);
        upx(x, y, _) = 0.25f * f(x / 2 - 1 + 2 * (x % 2), y, _) + 0.75f * f(x / 2, y, _);
        up(x, y, _) = 0.25f * upx(x, y / 2 - 1 + 2 * (y % 2), _) + 0.75f * upx(x, y / 2, _);
        return up;
    }

    // Level l: the coefficients of the two remapped pictures nearest in brightness, and the
    // coarser levels.
    void define_result(int l) {
        const bool coarsest = l == pyramid_levels - 1;
        Func laplacian = remapped[size_t(l)];
        if (!coarsest) {
            laplacian = Func(numbered("laplacian", l));
            laplacian(x, y, k) =
                remapped[size_t(l)](x, y, k) -
                double_size(remapped[size_t(l) + 1], numbered("remapped_up", l))(x, y, k);
        }
        const Expr level = gaussian[size_t(l)](x, y) * cast<float>(levels - 1);
        const Expr lower = clamp(cast<int>(level), 0, levels - 2);
        const Expr share = level - lower;
        Func coefficient(numbered("coefficient", l));
        coefficient(x, y) =
            (1.0f - share) * laplacian(x, y, lower) + share * laplacian(x, y, lower + 1);
        result[size_t(l)] = coefficient;
        if (!coarsest) {
            Func sum(numbered("result", l));
            sum(x, y) = double_size(result[size_t(l) + 1], numbered("result_up", l))(x, y) +
                        coefficient(x, y);
            result[size_t(l)] = sum;
        }
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(LocalLaplacian, local_laplacian)
