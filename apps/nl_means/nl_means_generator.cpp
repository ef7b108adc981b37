// Non-local means: denoises by averaging over pixels whose surroundings look alike.
//
// Algorithm: A. Buades, B. Coll and J.-M. Morel, "A non-local algorithm for image denoising", CVPR
// 2005, patch distances by separable box sums for every offset of the search window, as in
// J. Darbon et al., "Fast nonlocal filtering applied to electron cryomicroscopy", ISBI 2008.
// Input is RGB in [0, 1], continued by its edge pixels. Window sizes are free at run time.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class NlMeans : public Generator<NlMeans> {
public:
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};
    // Estimates of the window sizes.
    GeneratorParam<int> patch{"patch", 7, 1, 63};
    GeneratorParam<int> search{"search", 7, 1, 63};

    Input<Buffer<float, 3>> input{"input"};
    // Edges of the compared patches and of the searched window, in pixels.
    Input<int> patch_size{"patch_size", 7, 1, 63};
    Input<int> search_area{"search_area", 7, 1, 63};
    // Standard deviation of the noise.
    Input<float> sigma{"sigma", 0.12f, 0.001f, 10.0f};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        Func clamped = BoundaryConditions::repeat_edge(input);

        // Distance of the patches around (x, y) and (x + dx, y + dy).
        RDom channel(0, 3, "channel");
        const Expr off = clamped(x, y, channel) - clamped(x + dx, y + dy, channel);
        d(x, y, dx, dy) = sum(channel, off * off, "d_sum");
        const Expr first = -(patch_size / 2);
        RDom row(first, patch_size, "row"), column(first, patch_size, "column");
        blur_d_y(x, y, dx, dy) = sum(row, d(x, y + row, dx, dy), "blur_d_y_sum");
        blur_d(x, y, dx, dy) = sum(column, blur_d_y(x + column, y, dx, dy), "blur_d_sum");

        const Expr scale = -1.0f / (sigma * sigma * patch_size * patch_size);
        w(x, y, dx, dy) = fast_exp(blur_d(x, y, dx, dy) * scale);

        // Weighted colours; the fourth channel is the sum of the weights.
        s = RDom(-(search_area / 2), search_area, -(search_area / 2), search_area, "s");
        clamped_with_alpha(x, y, c) =
            mux(c, {clamped(x, y, 0), clamped(x, y, 1), clamped(x, y, 2), 1.0f});
        weighted(x, y, c) = 0.0f;
        weighted(x, y, c) += w(x, y, s.x, s.y) * clamped_with_alpha(x + s.x, y + s.y, c);
        output(x, y, c) = weighted(x, y, c) / weighted(x, y, 3);

        input.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        patch_size.set_estimate(patch);
        search_area.set_estimate(search);
        sigma.set_estimate(0.12f);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_nl_means_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // One kernel. For each offset a block makes the patch distances of its tile, with sums
            // along columns in shared memory; the weighted colours stay in registers.
            Var xi("xi"), yi("yi"), u("u"), v("v");
            output.reorder(c, x, y).unroll(c).gpu_tile(
                x, y, xi, yi, 32, 16, TailStrategy::GuardWithIf);
            weighted.compute_at(output, x)
                .store_in(MemoryType::Register)
                .bound_extent(x, 32)
                .bound_extent(y, 16)
                .bound(c, 0, 4)
                .reorder(c, x, y)
                .unroll(c)
                .gpu_threads(x, y);
            weighted.update().reorder(c, x, y, s.x, s.y).unroll(c).gpu_threads(x, y);
            for (Func f : {d, blur_d_y}) {
                f.compute_at(weighted, s.x)
                    .split(x, x, u, 32, TailStrategy::GuardWithIf)
                    .split(y, y, v, 16, TailStrategy::GuardWithIf)
                    .reorder(u, v, x, y)
                    .gpu_threads(u, v);
            }
            w.compute_at(weighted, x);
        } else {
            Var xi("xi"), yi("yi"), tile("tile");
            output.tile(x, y, xi, yi, 64, 32, TailStrategy::GuardWithIf)
                .reorder(xi, c, yi, x, y)
                .fuse(x, y, tile)
                .parallel(tile)
                .vectorize(xi, 8);
            weighted.compute_at(output, tile).vectorize(x, 8);
            weighted.update()
                .reorder(x, c, y, s.x, s.y)
                .unroll(c)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
            w.compute_at(weighted, s.x).vectorize(x, 8);
            blur_d_y.compute_at(weighted, s.x).vectorize(x, 8);
            d.compute_at(weighted, s.x).vectorize(x, 8);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"}, dx{"dx"}, dy{"dy"};
    RDom s;
    Func d{"d"}, blur_d_y{"blur_d_y"}, blur_d{"blur_d"}, w{"w"},
        clamped_with_alpha{"clamped_with_alpha"}, weighted{"weighted"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(NlMeans, nl_means)
