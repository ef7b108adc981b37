// Circular maximum filter: every pixel becomes the largest value within a disc around it.
//
// Algorithm: dilation by a flat disc (P. Soille, "Morphological Image Analysis", 2003), column by
// column. The maximum of a column segment of any length is the larger one of two overlapping runs
// of a power of two, and such runs come from a table of doubling lengths (the sparse table of
// M. A. Bender and M. Farach-Colton, "The LCA problem revisited", LATIN 2000). So the work per
// pixel grows with the radius, not with the area. The input is continued by its edge pixels.
#include <cmath>
#include <string>
#include <vector>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class MaxFilter : public Generator<MaxFilter> {
public:
    GeneratorParam<int> radius{"radius", 26, 1, 256};
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        // runs[t](x, y, c) is the maximum of the 2^t pixels from (x, y) downwards.
        runs.push_back(BoundaryConditions::repeat_edge(input));
        for (int length = 2; length <= 2 * radius + 1; length *= 2) {
            Func longer("run_" + std::to_string(length));
            const Func &half = runs.back();
            longer(x, y, c) = max(half(x, y, c), half(x, y + length / 2, c));
            runs.push_back(longer);
        }
        // The disc is symmetric, and its columns get shorter to both sides: those that need the
        // same length of runs lie next to each other.
        const int r = radius;
        widest(x, y, c) = column_maximum(0, half_height(0), run_index(0));
        for (int first = 1; first <= r;) {
            const size_t run = run_index(first);
            int end = first + 1;
            while (end <= r && run_index(end) == run) {
                end++;
            }
            RDom dx(first, end - first, "dx");
            const Expr half = clamp(half_height(dx), 0, r);
            widest(x, y, c) =
                max(widest(x, y, c),
                    max(column_maximum(-dx, half, run), column_maximum(dx, half, run)));
            first = end;
        }
        output(x, y, c) = widest(x, y, c);

        input.dim(2).set_bounds(0, 3);
        output.dim(2).set_bounds(0, 3);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_max_filter_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // Only runs of 4, 8, 16 and 32 pixels (for the usual radius) are worth a kernel; the
            // shortest run is cheaper to repeat. A thread keeps four maxima below each other in
            // registers, whose columns overlap.
            Var xi("xi"), yi("yi"), yii("yii");
            for (size_t t = 2; t < runs.size(); t++) {
                runs[t].compute_root().gpu_tile(x, y, xi, yi, 32, 8);
            }
            output.split(x, x, xi, 32, TailStrategy::GuardWithIf)
                .split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .split(yi, yi, yii, 4)
                .reorder(yii, xi, yi, x, y, c)
                .unroll(yii)
                .gpu_blocks(x, y, c)
                .gpu_threads(xi, yi);
            widest.compute_at(output, xi).bound_extent(y, 4).unroll(y);
            for (int k = 0; k < widest.num_update_definitions(); k++) {
                widest.update(k).reorder(y, widest.rvars(k)[0], x, c).unroll(y);
            }
        } else {
            Var yi("yi");
            output.split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .reorder(x, yi, y, c)
                .parallel(y)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
            for (size_t t = 1; t < runs.size(); t++) {
                runs[t].compute_at(output, y).vectorize(x, 8);
            }
            widest.compute_at(output, yi).vectorize(x, 8);
            for (int k = 0; k < widest.num_update_definitions(); k++) {
                widest.update(k)
                    .reorder(x, widest.rvars(k)[0], y, c)
                    .vectorize(x, 8, TailStrategy::GuardWithIf);
            }
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"};
    std::vector<Func> runs;
    Func widest{"widest"};

    // How far the disc reaches up and down in the column dx away from its centre. It is a quarter
    // pixel wider than the radius, so that no single pixels stick out; the root is no integer.
    Expr half_height(const Expr &dx) const {
        const float r = float(int(radius)) + 0.25f;
        return cast<int>(sqrt(r * r - cast<float>(dx * dx)));
    }

    // The longest run that fits into that column.
    size_t run_index(int dx) const {
        const double r = radius + 0.25;
        const int height = 2 * int(std::sqrt(r * r - dx * dx)) + 1;
        size_t t = 0;
        while ((2 << t) <= height) {
            t++;
        }
        return t;
    }

    // Maximum of the part of column x + dx that lies in the disc around (x, y).
    Expr column_maximum(const Expr &dx, const Expr &half, size_t run) {
        const int length = 1 << run;
        return max(runs[run](x + dx, y - half, c), runs[run](x + dx, y + half + 1 - length, c));
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MaxFilter, max_filter)
