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
        Expr largest = column_maximum(0);
        for (int dx = 1; dx <= radius; dx++) {
            largest = max(largest, max(column_maximum(-dx), column_maximum(dx)));
        }
        output(x, y, c) = largest;

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
            // shortest run is cheaper to repeat. Everything is limited by memory.
            Var xi("xi"), yi("yi");
            for (size_t t = 2; t < runs.size(); t++) {
                runs[t].compute_root().gpu_tile(x, y, xi, yi, 32, 8);
            }
            output.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
        } else {
            Var yi("yi");
            output.split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .reorder(x, yi, y, c)
                .parallel(y)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
            for (size_t t = 1; t < runs.size(); t++) {
                runs[t].compute_at(output, y).vectorize(x, 8);
            }
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"};
    std::vector<Func> runs;

    // Maximum of the part of column x + dx that lies in the disc around (x, y).
    Expr column_maximum(int dx) {
        // A quarter pixel more, so that the disc has no single pixels sticking out.
        const double r = radius + 0.25;
        const int half = int(std::floor(std::sqrt(r * r - dx * dx)));
        size_t t = 0;
        while ((2 << t) <= 2 * half + 1) {
            t++;
        }
        return max(runs[t](x + dx, y - half, c), runs[t](x + dx, y + half + 1 - (1 << t), c));
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MaxFilter, max_filter)
