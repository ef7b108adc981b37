// Bilateral guided upsampling: applies to a large picture what an operator did to a small copy.
//
// Algorithm: J. Chen, A. Adams, N. Wadhwa and S. W. Hasinoff, "Bilateral guided upsampling",
// SIGGRAPH Asia 2016. Moments of the colours before (`splat_loc`) and after (`values`) the operator
// are summed in a bilateral grid and blurred; in every cell an affine map from one to the other is
// fitted by least squares, pulled towards a plain gain; the map of each large pixel is interpolated
// from the grid. The fit centres the colours, which leaves a symmetric 3x3 system that cofactors
// solve. Colours are RGB in [0, 1], continued by the edge pixels.
#include <array>
#include <vector>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class Bgu : public Generator<Bgu> {
public:
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};
    // How much smaller the small pictures are, and edge of a cell: estimates only.
    GeneratorParam<int> reduction{"reduction", 8, 1, 64};
    GeneratorParam<int> cell_size{"cell_size", 16, 2, 256};

    Input<Buffer<float, 3>> splat_loc{"splat_loc"};
    Input<Buffer<float, 3>> values{"values"};
    Input<Buffer<float, 3>> slice_loc{"slice_loc"};
    // Depth of a cell in units of brightness, and its edge in small pixels.
    Input<float> r_sigma{"r_sigma", 0.125f, 0.001f, 1.0f};
    Input<int> s_sigma{"s_sigma", 16, 2, 256};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        define_histogram();
        blurz(x, y, z, c) = blurred([&](int k) { return histogram(x, y, z + k, c); });
        blurx(x, y, z, c) = blurred([&](int k) { return blurz(x + k, y, z, c); });
        blury(x, y, z, c) = blurred([&](int k) { return blurx(x, y + k, z, c); });
        fit();
        slice();
        set_estimates();
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_bgu_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // The grid is small: its kernels only need enough threads, so every moment of a cell
            // has one of its own. A thread applies the map of one pixel to all channels.
            Var xi("xi"), yi("yi"), ci("ci"), zi("zi"), zc("zc");
            histogram.compute_root()
                .bound(c, 0, moments)
                .fuse(z, c, zc)
                .gpu_tile(x, y, zc, xi, yi, zi, 8, 8, 1);
            const RVar rx = histogram.rvars(0)[0], ry = histogram.rvars(0)[1];
            histogram.update().reorder(rx, ry, x, y, c).gpu_tile(x, y, c, xi, yi, ci, 8, 8, 1);
            for (Func f : {blurz, blurx, blury}) {
                f.compute_root()
                    .bound(c, 0, moments)
                    .fuse(z, c, zc)
                    .gpu_tile(x, y, zc, xi, yi, zi, 8, 8, 1);
            }
            affine.compute_root()
                .bound(c, 0, 12)
                .reorder(c, x, y, z)
                .unroll(c)
                .gpu_tile(x, y, z, xi, yi, zi, 8, 8, 1);
            for (Func f : {covariance, inverse, cross}) {
                f.compute_at(affine, xi).unroll(c);
            }
            output.reorder(c, x, y).unroll(c).gpu_tile(
                x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
            interpolated.compute_at(output, xi).bound(c, 0, 12).unroll(c);
        } else {
            histogram.compute_at(blurz, y);
            histogram.update()
                .reorder(c, histogram.rvars(0)[0], histogram.rvars(0)[1], x, y)
                .unroll(c);
            for (Func f : {blurz, blurx, blury}) {
                f.compute_root()
                    .bound(c, 0, moments)
                    .reorder(x, z, c, y)
                    .parallel(y)
                    .vectorize(x, 8);
            }
            affine.compute_root()
                .bound(c, 0, 12)
                .reorder(c, x, z, y)
                .unroll(c)
                .parallel(y)
                .vectorize(x, 8);
            output.reorder(c, x, y)
                .unroll(c)
                .parallel(y, 8, TailStrategy::GuardWithIf)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    // Channels of the grid: number of pixels, sums of the three colours before and after, of the
    // six products of two colours before, and of the nine of one before and one after.
    static constexpr int before = 1, after = 4, squares = 7, products = 13, moments = 22;

    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
    Func histogram{"histogram"}, blurz{"blurz"}, blurx{"blurx"}, blury{"blury"},
        covariance{"covariance"}, inverse{"inverse"}, cross{"cross"}, affine{"affine"},
        interpolated{"interpolated"};

    // Position of the product of colours i and j among the six.
    static int square(int i, int j) {
        static constexpr int position[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
        return squares + position[i][j];
    }

    // The weights are exact in binary. So pixels with eight fractional bits fall into the same
    // cell whatever order a device adds in.
    static Expr brightness(const Expr &red, const Expr &green, const Expr &blue) {
        const Expr sum = red * (77.0f / 256) + green * (150.0f / 256) + blue * (29.0f / 256);
        return clamp(sum, 0.0f, 1.0f);
    }

    void define_histogram() {
        Func small_in = BoundaryConditions::repeat_edge(splat_loc);
        Func small_out = BoundaryConditions::repeat_edge(values);
        RDom r(0, s_sigma, 0, s_sigma, "r");
        const Expr px = x * s_sigma + r.x - s_sigma / 2, py = y * s_sigma + r.y - s_sigma / 2;

        std::array<Expr, 3> s, v;
        for (int k = 0; k < 3; k++) {
            s[size_t(k)] = small_in(px, py, k);
            v[size_t(k)] = small_out(px, py, k);
        }
        std::vector<Expr> terms = {1.0f, s[0], s[1], s[2], v[0], v[1], v[2]};
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = i; j < 3; j++) {
                terms.push_back(s[i] * s[j]);
            }
        }
        for (const Expr &out : v) {
            for (const Expr &in : s) {
                terms.push_back(out * in);
            }
        }
        const Expr cell = cast<int>(brightness(s[0], s[1], s[2]) / r_sigma + 0.5f);
        histogram(x, y, z, c) = 0.0f;
        histogram(x, y, cell, c) += mux(c, terms);
    }

    // Binomial weighting of five cells; `cell(k)` is the one k further on.
    template<typename Cell>
    static Expr blurred(const Cell &cell) {
        return (cell(-2) + cell(2)) * (1.0f / 16) + (cell(-1) + cell(1)) * (4.0f / 16) +
               cell(0) * (6.0f / 16);
    }

    // The affine map of each cell: three rows of three factors and an offset.
    void fit() {
        constexpr float few = 1.0f / 1024, ridge = 1.0f / 1024;
        const auto moment = [&](int k) { return blury(x, y, z, k); };
        const Expr per_pixel = 1.0f / (moment(0) + few);

        // Covariances of the colours before, with a ridge that makes them invertible.
        const auto mean = [&](int k) { return moment(k) * per_pixel; };
        std::vector<Expr> entries;
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                const Expr entry = moment(square(i, j)) * per_pixel -
                                   mean(before + i) * mean(before + j) + (i == j ? ridge : 0.0f);
                entries.push_back(entry);
            }
        }
        covariance(x, y, z, c) = mux(c, entries);
        define_inverse();

        // Those of colours before and after. The ridge pulls towards the ratio of brightnesses.
        const Expr gain = (brightness(mean(after), mean(after + 1), mean(after + 2)) + few) /
                          (brightness(mean(before), mean(before + 1), mean(before + 2)) + few);
        entries.clear();
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                const Expr entry =
                    moment(products + 3 * i + j) * per_pixel - mean(after + i) * mean(before + j);
                entries.push_back(i == j ? entry + ridge * gain : entry);
            }
        }
        cross(x, y, z, c) = mux(c, entries);

        entries.clear();
        for (int i = 0; i < 3; i++) {
            Expr offset = mean(after + i);
            for (int j = 0; j < 3; j++) {
                Expr factor = 0.0f;
                for (int k = 0; k < 3; k++) {
                    factor += cross(x, y, z, 3 * i + k) * inverse(x, y, z, square(k, j) - squares);
                }
                entries.push_back(factor);
                offset -= factor * mean(before + j);
            }
            entries.push_back(offset);
        }
        affine(x, y, z, c) = mux(c, entries);
    }

    // Inverse of the covariance matrix, by cofactors.
    void define_inverse() {
        const auto entry = [&](int i, int j) {
            return covariance(x, y, z, square(i, j) - squares);
        };
        const auto cofactor = [&](int i, int j) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            return entry(i1, j1) * entry(i2, j2) - entry(i1, j2) * entry(i2, j1);
        };
        const Expr determinant = entry(0, 0) * cofactor(0, 0) + entry(0, 1) * cofactor(0, 1) +
                                 entry(0, 2) * cofactor(0, 2);
        std::vector<Expr> entries;
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                entries.push_back(cofactor(i, j) / determinant);
            }
        }
        inverse(x, y, z, c) = mux(c, entries);
    }

    // Interpolates the maps and applies them.
    void slice() {
        const auto channel = [&](int k) { return slice_loc(x, y, k); };
        const auto enlargement = [&](int d) {
            return (slice_loc.dim(d).extent() + splat_loc.dim(d).extent() - 1) /
                   splat_loc.dim(d).extent();
        };
        const Expr cell = s_sigma * max(enlargement(0), enlargement(1));
        const Expr depth = brightness(channel(0), channel(1), channel(2)) / r_sigma;
        const Expr xi = x / cell, yi = y / cell, zi = cast<int>(depth);
        const Expr xf = cast<float>(x % cell) / cell, yf = cast<float>(y % cell) / cell;
        const Expr zf = depth - zi;
        const auto between_columns = [&](const Expr &row, const Expr &layer) {
            return lerp(affine(xi, row, layer, c), affine(xi + 1, row, layer, c), xf);
        };
        const auto between_rows = [&](const Expr &layer) {
            return lerp(between_columns(yi, layer), between_columns(yi + 1, layer), yf);
        };
        interpolated(x, y, c) = lerp(between_rows(zi), between_rows(zi + 1), zf);
        output(x, y, c) =
            interpolated(x, y, 4 * c) * channel(0) + interpolated(x, y, 4 * c + 1) * channel(1) +
            interpolated(x, y, 4 * c + 2) * channel(2) + interpolated(x, y, 4 * c + 3);
    }

    void set_estimates() {
        const int columns = width, rows = height, factor = reduction;
        const int small_width = (columns + factor - 1) / factor;
        const int small_height = (rows + factor - 1) / factor;
        for (Input<Buffer<float, 3>> *small : {&splat_loc, &values}) {
            small->dim(2).set_bounds(0, 3);
            small->set_estimates({{0, small_width}, {0, small_height}, {0, 3}});
        }
        r_sigma.set_estimate(0.125f);
        s_sigma.set_estimate(cell_size);
        slice_loc.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        slice_loc.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Bgu, bgu)
