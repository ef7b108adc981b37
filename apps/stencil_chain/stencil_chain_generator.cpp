// A chain of small stencils: the same 5x5 blur many times over.
//
// Algorithm: repeated convolution with the binomial kernel (1 4 6 4 1)^2 / 256, which tends to a
// Gaussian, see P. J. Burt, "Fast filter transforms for image processing", Computer Graphics and
// Image Processing 16, 1981. It is a benchmark of fusion: a single step does little work for what
// it reads and writes. All arithmetic is that of 16-bit unsigned integers; samples up to 255 stay
// exact. The input is continued beyond its border by its edge pixels.
#include <array>
#include <string>
#include <vector>

#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class StencilChain : public Generator<StencilChain> {
public:
    GeneratorParam<int> stencils{"stencils", 32, 1, 256};
    GeneratorParam<int> width{"width", 1536, 16, 65536};
    GeneratorParam<int> height{"height", 2560, 16, 65536};

    Input<Buffer<uint16_t, 2>> input{"input"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() {
        Func previous = BoundaryConditions::repeat_edge(input);
        for (int k = 1; k < stencils; k++) {
            Func step("step_" + std::to_string(k));
            step(x, y) = blurred(previous);
            steps.push_back(step);
            previous = step;
        }
        output(x, y) = blurred(previous);

        input.set_estimates({{0, width}, {0, height}});
        output.set_estimates({{0, width}, {0, height}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_stencil_chain_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            // Two steps per kernel: the first one of a tile and its halo stays in shared memory. A
            // thread makes four pixels below each other, whose stencils overlap.
            Func second = output;
            make_kernel(second, TailStrategy::GuardWithIf);
            for (size_t k = steps.size(); k-- > 0;) {
                if ((steps.size() - k) % 2 == 1) {
                    steps[k].compute_at(second, xo);
                    share_among_threads(steps[k]);
                } else {
                    second = steps[k].compute_root();
                    make_kernel(second, TailStrategy::RoundUp);
                }
            }
        } else {
            // The steps need no rounding of tails: their allocations are padded.
            for (Func step : steps) {
                step.compute_root().parallel(y, 16).vectorize(x, 16);
            }
            output.parallel(y, 16, TailStrategy::GuardWithIf)
                .vectorize(x, 16, TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, yii{"yii"};
    std::vector<Func> steps;

    // Rounded weighted mean of the 5x5 samples around (x, y).
    Expr blurred(const Func &f) {
        constexpr std::array<int, 5> weight = {1, 4, 6, 4, 1};
        Expr sum = cast<uint16_t>(128);
        for (int dy = -2; dy <= 2; dy++) {
            for (int dx = -2; dx <= 2; dx++) {
                const int product = weight[size_t(dx + 2)] * weight[size_t(dy + 2)];
                sum += cast<uint16_t>(product) * f(x + dx, y + dy);
            }
        }
        return sum >> 8;
    }

    // Tiles of 64x32 pixels for blocks of 64x8 threads.
    void make_kernel(Func f, TailStrategy tail) {
        f.split(x, xo, xi, 64, tail)
            .split(y, yo, yi, 32, tail)
            .split(yi, yi, yii, 4)
            .reorder(yii, xi, yi, xo, yo)
            .unroll(yii)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
    }

    // The threads of a block take pixels of `f` in turns.
    void share_among_threads(Func f) {
        f.split(x, x, xi, 64, TailStrategy::GuardWithIf)
            .split(y, y, yi, 8, TailStrategy::GuardWithIf)
            .reorder(xi, yi, x, y)
            .gpu_threads(xi, yi);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(StencilChain, stencil_chain)
