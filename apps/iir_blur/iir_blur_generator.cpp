// Recursive blur: a filter of infinite impulse response along columns and then along rows.
//
// Algorithm: first-order exponential smoothing in both directions, as in R. Deriche, "Recursively
// implementing the Gaussian and its derivatives", INRIA report 1893, 1993, with the simplest of
// its filters: y[i] = (1 - alpha) y[i - 1] + alpha x[i] downwards, then the same upwards. Both
// passes are one function that scans columns and transposes, so that rows become columns.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class IirBlur : public Generator<IirBlur> {
public:
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<float, 3>> input{"input"};
    Input<float> alpha{"alpha", 0.5f, 0.0f, 1.0f};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        columns = scan(input, input.dim(1).extent(), "blur_columns");
        turned(x, y, c) = columns(y, x, c);
        rows = scan(turned, input.dim(0).extent(), "blur_rows");
        output(x, y, c) = rows(y, x, c);

        input.dim(0).set_min(0);
        input.dim(1).set_min(0);
        input.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        alpha.set_estimate(0.5f);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_iir_blur_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // A thread scans one column; the columns of a warp lie side by side. The transposes go
            // through shared memory, so that reads and writes are both along rows.
            Var xi("xi"), yi("yi");
            for (Func f : {columns, rows}) {
                f.compute_root();
                for (int k = 0; k <= 2; k++) {
                    f.update(k).gpu_tile(x, xi, 32, TailStrategy::GuardWithIf);
                    if (k > 0) {
                        f.update(k).reorder(f.rvars(k)[0], xi, x, c);
                    }
                    f.update(k).gpu_blocks(c);
                }
            }
            turned.compute_root().gpu_tile(x, y, xi, yi, 32, 32);
            output.gpu_tile(x, y, xi, yi, 32, 32, TailStrategy::GuardWithIf);
            columns.in(turned).compute_at(turned, x).gpu_threads(x, y);
            rows.in(output).compute_at(output, x).gpu_threads(x, y);
        } else {
            Var xo("xo");
            for (Func f : {columns, rows}) {
                // Columns lie side by side: eight of them are scanned together.
                f.compute_root();
                f.update(0).vectorize(x, 8, TailStrategy::GuardWithIf);
                for (int k = 1; k <= 2; k++) {
                    f.update(k)
                        .split(x, xo, x, 8, TailStrategy::GuardWithIf)
                        .reorder(x, f.rvars(k)[0], xo, c)
                        .parallel(xo)
                        .vectorize(x);
                }
            }
            turned.compute_root().parallel(y, 8);
            output.parallel(y, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"};
    Func columns{"columns"}, turned{"turned"}, rows{"rows"};

    // Smooths the columns of `f`, whose rows are 0 ... rows - 1.
    Func scan(const Func &f, const Expr &rows, const std::string &name) {
        Func blur(name);
        RDom later(1, rows - 1, "later");
        const Expr up = rows - 1 - later;
        blur(x, y, c) = undef<float>();
        blur(x, 0, c) = f(x, 0, c);
        blur(x, later, c) = (1.0f - alpha) * blur(x, later - 1, c) + alpha * f(x, later, c);
        blur(x, up, c) = (1.0f - alpha) * blur(x, up + 1, c) + alpha * blur(x, up, c);
        return blur;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(IirBlur, iir_blur)
