// Harris corner detector: response det(S) - k trace(S)^2 of the structure tensor S.
//
// Algorithm: C. Harris and M. Stephens, "A combined corner and edge detector", Alvey Vision
// Conference, 1988. Gradients by 3x3 Sobel filters, S summed over 3x3 windows, k = 0.04.
// Input is RGB in [0, 1]; the output begins at (3, 3) and leaves a border of three pixels.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class Harris : public Generator<Harris> {
public:
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);

        const auto weighted = [](const Expr &first, const Expr &middle, const Expr &last) {
            return first + 2.0f * middle + last;
        };
        Ix(x, y) = (weighted(gray(x + 1, y - 1), gray(x + 1, y), gray(x + 1, y + 1)) -
                    weighted(gray(x - 1, y - 1), gray(x - 1, y), gray(x - 1, y + 1))) /
                   12.0f;
        Iy(x, y) = (weighted(gray(x - 1, y + 1), gray(x, y + 1), gray(x + 1, y + 1)) -
                    weighted(gray(x - 1, y - 1), gray(x, y - 1), gray(x + 1, y - 1))) /
                   12.0f;

        Func Ixx("Ixx"), Iyy("Iyy"), Ixy("Ixy"), Sxx("Sxx"), Syy("Syy"), Sxy("Sxy");
        Ixx(x, y) = Ix(x, y) * Ix(x, y);
        Iyy(x, y) = Iy(x, y) * Iy(x, y);
        Ixy(x, y) = Ix(x, y) * Iy(x, y);
        Sxx(x, y) = window_sum(Ixx);
        Syy(x, y) = window_sum(Iyy);
        Sxy(x, y) = window_sum(Ixy);

        Func det("det"), trace("trace");
        det(x, y) = Sxx(x, y) * Syy(x, y) - Sxy(x, y) * Sxy(x, y);
        trace(x, y) = Sxx(x, y) + Syy(x, y);
        output(x, y) = det(x, y) - 0.04f * trace(x, y) * trace(x, y);

        input.dim(2).set_bounds(0, 3);
        input.set_estimates({{0, width}, {0, height}, {0, 3}});
        output.set_estimates({{3, width - 6}, {3, height - 6}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_harris_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // One kernel: the tile and its halo go through shared memory, so the image is read
            // once, and each thread keeps a column of four results.
            Var xi("xi"), yi("yi"), yii("yii");
            output.split(x, x, xi, 32, TailStrategy::GuardWithIf)
                .split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .split(yi, yi, yii, 4)
                .reorder(yii, xi, yi, x, y)
                .unroll(yii)
                .gpu_blocks(x, y)
                .gpu_threads(xi, yi);
            for (Func stage : {gray, Ix, Iy}) {
                Var u("u"), v("v");
                stage.compute_at(output, x)
                    .split(x, x, u, 32, TailStrategy::GuardWithIf)
                    .split(y, y, v, 8, TailStrategy::GuardWithIf)
                    .reorder(u, v, x, y)
                    .gpu_threads(u, v);
            }
        } else {
            Var yi("yi");
            output.split(y, y, yi, 32, TailStrategy::GuardWithIf)
                .parallel(y)
                .vectorize(x, 8, TailStrategy::GuardWithIf);
            for (Func stage : {gray, Ix, Iy}) {
                stage.store_at(output, y)
                    .compute_at(output, yi)
                    .vectorize(x, 8, TailStrategy::GuardWithIf);
            }
        }
    }

private:
    Var x{"x"}, y{"y"};
    Func gray{"gray"}, Ix{"Ix"}, Iy{"Iy"};

    // Sum of the 3x3 neighbours.
    Expr window_sum(const Func &f) {
        Expr sum = 0.0f;
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                sum += f(x + dx, y + dy);
            }
        }
        return sum;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Harris, harris)
