// Histogram equalisation of a colour photograph.
//
// Algorithm: histogram equalisation (R. C. Gonzalez and R. E. Woods, "Digital Image Processing",
// chapter on intensity transformations) of the luma of YCbCr (ITU-R BT.601, full range). The
// colour differences are kept. Everything is integer arithmetic with eight fractional bits, so
// every correct schedule gives the same bytes.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class Hist : public Generator<Hist> {
public:
    GeneratorParam<int> width{"width", 1536, 16, 8192};
    GeneratorParam<int> height{"height", 2560, 16, 8192};

    Input<Buffer<uint8_t, 3>> input{"input"};
    Output<Buffer<uint8_t, 3>> output{"output"};

    void generate() {
        const Expr columns = input.dim(0).extent(), rows = input.dim(1).extent();
        const auto channel = [&](int k) { return cast<int>(input(x, y, k)); };
        luma(x, y) =
            cast<uint8_t>((77 * channel(0) + 150 * channel(1) + 29 * channel(2) + 128) >> 8);

        // One histogram per row, so that the rows are independent of each other.
        RDom column(0, columns, "column");
        hist_rows(bin, y) = 0;
        hist_rows(cast<int>(luma(column, y)), y) += 1;
        RDom row(0, rows, "row");
        hist(bin) = 0;
        hist(bin) += hist_rows(bin, row);

        RDom later(1, 255, "later");
        cdf(bin) = hist(0);
        cdf(later) = cdf(later - 1) + hist(later);
        const Expr pixels = cast<uint32_t>(columns * rows);
        lut(bin) = cast<uint8_t>((cast<uint32_t>(cdf(bin)) * 255 + pixels / 2) / pixels);

        Func red_difference("red_difference"), blue_difference("blue_difference");
        const Expr before = cast<int>(luma(x, y));
        red_difference(x, y) = channel(0) - before;
        blue_difference(x, y) = channel(2) - before;
        equalized(x, y) = lut(clamp(before, 0, 255));
        const Expr after = cast<int>(equalized(x, y));
        // G = Y - 0.509 (R - Y) - 0.194 (B - Y), from the definition of the luma.
        const Expr green_difference =
            (-130 * red_difference(x, y) - 50 * blue_difference(x, y) + 128) >> 8;
        output(x, y, c) = saturating_cast<uint8_t>(
            after + mux(c, {red_difference(x, y), green_difference, blue_difference(x, y)}));

        input.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_hist_auto)) {
            return;
        }
        Var xi("xi"), yi("yi"), bi("bi");
        if (get_target().has_gpu_feature()) {
            // Rows are counted by one thread each, and bins are summed by one thread each:
            // no atomics, so the same on every device. The rest is one pass over the picture.
            hist_rows.compute_root().gpu_tile(bin, y, bi, yi, 32, 8, TailStrategy::GuardWithIf);
            hist_rows.update().gpu_tile(y, yi, 32, TailStrategy::GuardWithIf);
            hist.compute_root().gpu_tile(bin, bi, 32, TailStrategy::GuardWithIf);
            hist.update().gpu_tile(bin, bi, 32, TailStrategy::GuardWithIf);
            cdf.compute_root().gpu_tile(bin, bi, 32, TailStrategy::GuardWithIf);
            cdf.update().gpu_single_thread();
            lut.compute_root().gpu_tile(bin, bi, 32, TailStrategy::GuardWithIf);
            output.reorder(c, x, y).unroll(c).gpu_tile(
                x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
            equalized.compute_at(output, xi);
        } else {
            hist_rows.compute_root().parallel(y, 16, TailStrategy::GuardWithIf);
            hist_rows.update().parallel(y, 16, TailStrategy::GuardWithIf);
            hist.compute_root().update().reorder(bin, hist.rvars(0)[0]).vectorize(bin, 8);
            cdf.compute_root();
            lut.compute_root();
            output.reorder(c, x, y).unroll(c).parallel(y, 16, TailStrategy::GuardWithIf);
            equalized.compute_at(output, x);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"}, bin{"bin"};
    Func luma{"luma"}, hist_rows{"hist_rows"}, hist{"hist"}, cdf{"cdf"}, lut{"lut"},
        equalized{"equalized"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Hist, hist)
