// Product of two dense matrices of floats, out = A B.
//
// Algorithm: the definition. Hand-written schedule: blocking for shared memory and registers as in
// V. Volkov and J. W. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008.
// Matrices are stored by columns: dimension 0 of a buffer counts rows. The inner extent is the
// parameter `size`; the number of rows and columns of the result is free at run time.
#include "Halide.h"

#include "support/replay_schedule.h"

namespace {

using namespace Halide;

class MatMul : public Generator<MatMul> {
public:
    GeneratorParam<int> size{"size", 1024, 16, 65536};

    Input<Buffer<float, 2>> A{"A"};
    Input<Buffer<float, 2>> B{"B"};
    Output<Buffer<float, 2>> out{"out"};

    void generate() {
        r = RDom(0, size, "r");
        prod(x, y) = 0.0f;
        prod(x, y) += A(x, r) * B(r, y);
        out(x, y) = prod(x, y);

        A.dim(1).set_bounds(0, size);
        B.dim(0).set_bounds(0, size);
        A.set_estimates({{0, size}, {0, size}});
        B.set_estimates({{0, size}, {0, size}});
        out.set_estimates({{0, size}, {0, size}});
    }

    void schedule() {
        if (using_autoscheduler() || APP_REPLAY_SCHEDULE(apply_schedule_mat_mul_auto)) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
        } else {
            // Strips of eight columns of the result; their copying is not worth vectorising.
            Var yi("yi");
            out.split(y, y, yi, 8, TailStrategy::GuardWithIf).parallel(y);
            prod.compute_at(out, y).vectorize(x, 8);
            prod.update().reorder(x, y, r).vectorize(x, 8, TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"};
    RDom r;
    Func prod{"prod"};

    // A block of 16x16 threads makes 64x64 results, 4x4 of them per thread in registers. Slices
    // of A and B, 16 deep, go through shared memory. Needs at least 64 rows and columns.
    void schedule_for_gpu() {
        Var xi("xi"), yi("yi"), xo("xo"), yo("yo"), u("u"), v("v");
        RVar ro("ro"), ri("ri");
        constexpr int tile = 64, threads = 16, depth = 16;
        out.tile(x, y, xi, yi, tile, tile, TailStrategy::ShiftInwards)
            .split(xi, xo, xi, threads)
            .split(yi, yo, yi, threads)
            .reorder(xo, yo, xi, yi, x, y)
            .unroll(xo)
            .unroll(yo)
            .gpu_blocks(x, y)
            .gpu_threads(xi, yi);
        prod.store_in(MemoryType::Register).compute_at(out, x);
        for (Stage stage : {Stage(prod), Stage(prod.update())}) {
            stage.split(x, xo, xi, threads, TailStrategy::RoundUp)
                .split(y, yo, yi, threads, TailStrategy::RoundUp)
                .reorder(xo, yo, xi, yi)
                .unroll(xo)
                .unroll(yo)
                .gpu_threads(xi, yi);
        }
        prod.bound_extent(x, tile).bound_extent(y, tile);
        prod.update()
            .split(r, ro, ri, depth, TailStrategy::GuardWithIf)
            .reorder(xo, yo, ri, xi, yi, ro);
        for (Func slice : {A.in(), B.in()}) {
            const std::vector<Var> args = slice.args();
            slice.compute_at(prod, ro)
                .split(args[0], args[0], u, threads, TailStrategy::GuardWithIf)
                .split(args[1], args[1], v, threads, TailStrategy::GuardWithIf)
                .reorder(u, v, args[0], args[1])
                .gpu_threads(u, v);
        }
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MatMul, mat_mul)
