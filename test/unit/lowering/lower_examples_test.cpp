// Whole schedules as text: how typical trees are turned into scheduling calls.
#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "lowering/lower_schedule.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

std::string lowered_text(const Pipeline &p, const std::string &tree) {
    return print_trace(lower_schedule(*p.tree(tree), p.graph, GpuDevice()), p.graph);
}

// The bounded output is a multiple of the tile: no guards, no specialization. The accumulators are
// in shared memory and staged for the output.
TEST(LowerExamples, ReductionInTheBlockOfItsConsumer) {
    const Pipeline p(mat_mul_graph());
    EXPECT_EQ(lowered_text(p, kMatMulInBlock), R"(Func out = pipeline.get_func(3);
Func prod = pipeline.get_func(2);
Var x(out.get_schedule().dims()[0].var);
Var xi("xi");
Var y(out.get_schedule().dims()[1].var);
Var yi("yi");
Var x_serial_outer("x_serial_outer");
RVar r(prod.update(0).get_schedule().dims()[0].var);
out
    .compute_root()
    .split(x, x, xi, 64, TailStrategy::GuardWithIf)
    .split(y, y, yi, 4, TailStrategy::GuardWithIf)
    .unroll(yi)
    .reorder(yi, xi, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi);
prod
    .compute_at(out, x)
    .split(y, y, yi, 4, TailStrategy::RoundUp)
    .unroll(yi)
    .split(x, x_serial_outer, x, 64, TailStrategy::GuardWithIf)
    .reorder(yi, x, y, x_serial_outer)
    .gpu_threads(x);
prod.update(0)
    .split(y, y, yi, 4, TailStrategy::GuardWithIf)
    .unroll(yi)
    .split(x, x_serial_outer, x, 64, TailStrategy::GuardWithIf)
    .reorder(yi, r, x, y, x_serial_outer)
    .gpu_threads(x);
prod.in(out)
    .compute_at(out, xi)
    .split(y, y, yi, 4, TailStrategy::RoundUp)
    .unroll(yi);
)");
}

// Sizes are estimates only. Stages that read no input are rounded up; the output shifts the tiles
// of its threads inwards where it is high enough, and guards every point otherwise; the stage that
// reads the input has one point per thread.
TEST(LowerExamples, StencilsAtTheRoot) {
    const Pipeline p(harris_graph());
    const std::string text = lowered_text(p, R"(
gray 48 640 (0, 0) t gpu_block
 gray 32 4 (0, 0) t gpu_thread
  gray 1 1 (0, 0) t gpu_serial
   gray 1 1 (0, 0) * gpu_simd
Ix 24 20 (0, 0) t gpu_block
 Ix 64 16 (0, 0) t gpu_thread
  Ix 1 8 (0, 0) t gpu_serial
   Ix 1 1 (0, 0) * gpu_simd
Iy 24 20 (0, 0) t gpu_block
 Iy 64 16 (0, 0) t gpu_thread
  Iy 1 8 (0, 0) t gpu_serial
   Iy 1 1 (0, 0) * gpu_simd
output 24 20 (0, 0) t gpu_block
 output 64 16 (0, 0) t gpu_thread
  output 1 8 (0, 0) t gpu_serial
   output 1 1 (0, 0) * gpu_simd
    inlined: trace 1
    inlined: det 1
    inlined: Syy 2
    inlined: Iyy 18
    inlined: Sxy 1
    inlined: Ixy 9
    inlined: Sxx 2
    inlined: Ixx 18
)");
    EXPECT_EQ(text.substr(text.find("output\n")), R"(output
    .specialize(output.output_buffers()[0].dim(1).extent() >= 8)
    .split(x, x, xi, 64, TailStrategy::GuardWithIf)
    .split(y, y, yii, 8, TailStrategy::ShiftInwards)
    .split(y, y, yi, 16, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi)
    .gpu_threads(yi);
output
    .compute_root()
    .split(x, x, xi, 64, TailStrategy::GuardWithIf)
    .split(y, y, yii, 8, TailStrategy::GuardWithIf)
    .split(y, y, yi, 16, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi)
    .gpu_threads(yi);
Iy
    .compute_root()
    .split(x, x, xi, 64, TailStrategy::RoundUp)
    .split(y, y, yi, 128, TailStrategy::RoundUp)
    .split(yi, yi, yii, 8, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi)
    .gpu_threads(yi);
Ix
    .compute_root()
    .split(x, x, xi, 64, TailStrategy::RoundUp)
    .split(y, y, yi, 128, TailStrategy::RoundUp)
    .split(yi, yi, yii, 8, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi)
    .gpu_threads(yi);
gray
    .compute_root()
    .split(x, x, xi, 32, TailStrategy::GuardWithIf)
    .split(y, y, yi, 4, TailStrategy::GuardWithIf)
    .reorder(xi, yi, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi)
    .gpu_threads(yi);
gray.in(Iy)
    .compute_at(Iy, xi)
    .split(x, x, xi, 3, TailStrategy::RoundUp)
    .split(y, y, yi, 10, TailStrategy::RoundUp)
    .unroll(xi)
    .unroll(yi);
gray.in(Ix)
    .compute_at(Ix, xi)
    .split(x, x, xi, 3, TailStrategy::RoundUp)
    .split(y, y, yi, 10, TailStrategy::RoundUp)
    .unroll(xi)
    .unroll(yi);
)");
}

// Scans: the reduction stays whole inside the threads, every stage has its own kernel.
TEST(LowerExamples, ScanOverColumns) {
    GraphBuilder b;
    b.func("blur", {"x", "y", "c"}).output({1536, 2560, 3}, false);
    b.update({}, {at("x"), constant(0, 0), at("c")})
        .reads("in", {at("x"), constant(0, 0), at("c")});
    b.update({{"r", 1, 2559, false}}, {at("x"), at("r"), at("c")})
        .reads("in", {at("x"), at("r"), at("c")});
    b.func("in", {"x", "y", "c"}).input();
    const Pipeline p(b.build());
    const std::string text = lowered_text(p, R"(
blur 96 20 3 (0, 0) t gpu_block
 blur 16 16 1 (0, 0) t gpu_thread
  blur 1 8 1 (0, 0) t gpu_serial
   blur 1 1 1 (0, 0) * gpu_simd
blur 96 3 (0, 0) t gpu_block
 blur 16 1 (0, 0) t gpu_thread
  blur 1 1 (0, 0) t gpu_serial
   blur 1 1 (0, 0) * gpu_simd
blur 1 96 3 (1, 0) t gpu_block
 blur 1 16 1 (1, 0) t gpu_thread
  blur 2559 1 1 (1, 0) t gpu_serial
   blur 1 1 1 (1, 0) * gpu_simd
)");
    EXPECT_EQ(text.substr(text.find("blur\n")), R"(blur
    .specialize(blur.output_buffers()[0].dim(1).extent() >= 8)
    .split(x, x, xi, 16, TailStrategy::GuardWithIf)
    .split(y, y, yii, 8, TailStrategy::ShiftInwards)
    .split(y, y, yi, 16, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y, c)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_blocks(c)
    .gpu_threads(xi)
    .gpu_threads(yi);
blur
    .compute_root()
    .split(x, x, xi, 16, TailStrategy::GuardWithIf)
    .split(y, y, yii, 8, TailStrategy::GuardWithIf)
    .split(y, y, yi, 16, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y, c)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_blocks(c)
    .gpu_threads(xi)
    .gpu_threads(yi);
blur.update(0)
    .split(x, x, xi, 16, TailStrategy::GuardWithIf)
    .gpu_blocks(x)
    .gpu_blocks(c)
    .gpu_threads(xi);
blur.update(1)
    .split(x, x, xi, 16, TailStrategy::GuardWithIf)
    .gpu_blocks(x)
    .gpu_blocks(c)
    .gpu_threads(xi);
)");
}

// Something is computed in the blocks of the output, so these stay whole: shifted inwards at large
// sizes, single points otherwise. The update reads the input. Four block loops share the grid.
TEST(LowerExamples, HistogramInTheBlockOfItsConsumer) {
    GraphBuilder b;
    b.func("blurz", {"x", "y", "z", "c"})
        .output({208, 325, 12, 2}, false)
        .reads("hist", {at("x"), at("y"), at("z", -2, 2), at("c")}, 5);
    b.func("hist", {"x", "y", "z", "c"});
    b.update({{"r.x", 0, 7, false}, {"r.y", 0, 7, false}},
             {at("x"), at("y"), constant(0, 11), at("c")})
        .reads("in", {scaled("x", 8), scaled("y", 8)});
    b.func("in", {"x", "y"}).input();
    const Pipeline p(b.build());
    const std::string text = lowered_text(p, R"(
blurz 13 325 1 1 (0, 0) t gpu_block
 hist 16 1 2 1 (0, 0) t gpu_thread
  hist 1 1 8 2 (0, 0) t gpu_serial
   hist 1 1 1 1 (0, 0) * gpu_simd
 hist 1 1 16 1 1 (2, 0) t gpu_thread
  hist 8 8 1 1 2 (2, 0) t gpu_serial
   hist 1 1 1 1 1 (2, 0) * gpu_simd
 blurz 16 1 2 1 (0, 0) t gpu_thread
  blurz 1 1 6 2 (0, 0) t gpu_serial
   blurz 1 1 1 1 (0, 0) * gpu_simd
)");
    EXPECT_EQ(text.substr(text.find("blurz\n")), R"(blurz
    .specialize(blurz.output_buffers()[0].dim(0).extent() >= 16 && blurz.output_buffers()[0].dim(2).extent() >= 12 && blurz.output_buffers()[0].dim(3).extent() >= 2)
    .split(x, x, xi, 16, TailStrategy::ShiftInwards)
    .split(z, z, zi, 12, TailStrategy::ShiftInwards)
    .split(zi, zi, zii, 6, TailStrategy::GuardWithIf)
    .split(c, c, ci, 2, TailStrategy::ShiftInwards)
    .unroll(zii)
    .unroll(ci)
    .reorder(zii, ci, xi, zi, x, y, z, c)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .fuse(z, c, z)
    .gpu_blocks(z)
    .gpu_threads(xi)
    .gpu_threads(zi);
blurz
    .compute_root()
    .split(x, x, xi, 1, TailStrategy::Auto)
    .split(z, z, zi, 1, TailStrategy::Auto)
    .split(zi, zi, zii, 1, TailStrategy::Auto)
    .split(c, c, ci, 1, TailStrategy::Auto)
    .unroll(zii)
    .unroll(ci)
    .reorder(zii, ci, xi, zi, x, y, z, c)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .fuse(z, c, z)
    .gpu_blocks(z)
    .gpu_threads(xi)
    .gpu_threads(zi);
hist
    .compute_at(blurz, x)
    .split(z, z, zi, 8, TailStrategy::RoundUp)
    .split(c, c, ci, 2, TailStrategy::RoundUp)
    .unroll(zi)
    .unroll(ci)
    .split(x, x_serial_outer, x, 16, TailStrategy::GuardWithIf)
    .split(z, z_serial_outer, z, 2, TailStrategy::GuardWithIf)
    .reorder(zi, ci, x, y, z, c, x_serial_outer, z_serial_outer)
    .gpu_threads(x)
    .gpu_threads(z);
hist.update(0)
    .split(c, c, ci, 2, TailStrategy::GuardWithIf)
    .unroll(ci)
    .split(x, x_serial_outer, x, 16, TailStrategy::GuardWithIf)
    .reorder(ci, r_x, r_y, x, y, c, x_serial_outer)
    .gpu_threads(x);
hist.in(blurz)
    .compute_at(blurz, xi)
    .split(z, z, zi, 10, TailStrategy::RoundUp)
    .split(c, c, ci, 2, TailStrategy::RoundUp)
    .unroll(zi)
    .unroll(ci);
)");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
