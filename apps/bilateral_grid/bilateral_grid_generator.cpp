// Bilateral filter by means of a bilateral grid: smooths, but not across strong edges.
//
// Algorithm: J. Chen, S. Paris and F. Durand, "Real-time edge-aware image processing with the
// bilateral grid", SIGGRAPH 2007. Pixels are added to the cells of a coarse three-dimensional
// grid (position and brightness), the grid is blurred, and the result is read out of it by
// trilinear interpolation. Input is grey in [0, 1], continued by its edge pixels.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class BilateralGrid : public Generator<BilateralGrid> {
public:
    // Edge of a cell in pixels.
    GeneratorParam<int> s_sigma{"s_sigma", 8, 2, 256};
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<float, 2>> input{"input"};
    // Depth of a cell in units of brightness.
    Input<float> r_sigma{"r_sigma", 0.1f, 0.001f, 1.0f};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Func clamped = BoundaryConditions::repeat_edge(input);
        const Expr cells_per_unit = 1.0f / r_sigma;

        // Sums of brightness (c = 0) and numbers of pixels (c = 1). Cell (x, y) is centred at
        // pixel (x, y) * s_sigma.
        RDom r(0, s_sigma, 0, s_sigma, "r");
        const Expr pixel = clamp(
            clamped(x * s_sigma + r.x - s_sigma / 2, y * s_sigma + r.y - s_sigma / 2), 0.0f, 1.0f);
        const Expr cell = cast<int>(pixel * cells_per_unit + 0.5f);
        histogram(x, y, z, c) = 0.0f;
        histogram(x, y, cell, c) += mux(c, {pixel, 1.0f});

        blurz(x, y, z, c) = blurred([&](int k) { return histogram(x, y, z + k, c); });
        blurx(x, y, z, c) = blurred([&](int k) { return blurz(x + k, y, z, c); });
        blury(x, y, z, c) = blurred([&](int k) { return blurx(x, y + k, z, c); });

        const Expr depth = clamp(input(x, y), 0.0f, 1.0f) * cells_per_unit;
        const Expr xi = x / s_sigma, yi = y / s_sigma, zi = cast<int>(depth);
        const Expr xf = cast<float>(x % s_sigma) / float(s_sigma);
        const Expr yf = cast<float>(y % s_sigma) / float(s_sigma);
        const Expr zf = depth - zi;
        const auto between_columns = [&](const Expr &row, const Expr &layer) {
            return lerp(blury(xi, row, layer, c), blury(xi + 1, row, layer, c), xf);
        };
        const auto between_rows = [&](const Expr &layer) {
            return lerp(between_columns(yi, layer), between_columns(yi + 1, layer), yf);
        };
        interpolated(x, y, c) = lerp(between_rows(zi), between_rows(zi + 1), zf);
        output(x, y) = interpolated(x, y, 0) / interpolated(x, y, 1);

        r_sigma.set_estimate(0.1f);
        input.set_estimates({{0, width}, {0, height}});
        output.set_estimates({{0, width}, {0, height}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_bilateral_grid_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // Counting and the first blur share a kernel: a block counts what falls into a column
            // of cells in shared memory. The grid is small, the rest is limited by memory.
            Var xi("xi"), yi("yi"), zi("zi");
            blurz.compute_root().reorder(c, z, x, y).gpu_tile(x, y, xi, yi, 8, 8);
            histogram.compute_at(blurz, x).gpu_threads(x, y);
            const RVar rx = histogram.rvars(0)[0], ry = histogram.rvars(0)[1];
            histogram.update().reorder(c, rx, ry, x, y).unroll(c).gpu_threads(x, y);
            for (Func f : {blurx, blury}) {
                f.compute_root()
                    .reorder(c, x, y, z)
                    .unroll(c)
                    .gpu_tile(x, y, z, xi, yi, zi, 32, 8, 1);
            }
            output.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
        } else {
            histogram.compute_at(blurz, y);
            histogram.update()
                .reorder(c, histogram.rvars(0)[0], histogram.rvars(0)[1], x, y)
                .unroll(c);
            blurz.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, 8);
            blurx.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, 8);
            blury.compute_root().reorder(x, z, c, y).parallel(y).vectorize(x, 8);
            output.parallel(y, 8, TailStrategy::GuardWithIf)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
    Func histogram{"histogram"}, blurz{"blurz"}, blurx{"blurx"}, blury{"blury"},
        interpolated{"interpolated"};

    // Binomial weighting of five cells; `cell(k)` is the one k further on.
    template<typename Cell>
    static Expr blurred(const Cell &cell) {
        return cell(-2) + 4.0f * cell(-1) + 6.0f * cell(0) + 4.0f * cell(1) + cell(2);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BilateralGrid, bilateral_grid)
