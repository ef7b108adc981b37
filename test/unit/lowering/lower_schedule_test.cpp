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

/// The statements about one stage in a printed schedule.
std::string statements(const std::string &text, const std::string &stage) {
    std::string found;
    const std::string start = "\n" + stage + "\n";
    for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        found += text.substr(at + 1, text.find(';', at) - at) + "\n";
    }
    return found;
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

// The bounded output is a multiple of the tile: no guards, no specialization. The accumulators are
// in shared memory and staged for the output.
TEST(LowerSchedule, ReductionInTheBlockOfItsConsumer) {
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

TEST(LowerSchedule, ReductionInTheThreadOfItsConsumer) {
    const Pipeline p(mat_mul_graph());
    const std::string text = lowered_text(p, kMatMulInThread);
    EXPECT_EQ(statements(text, "prod"), R"(prod
    .compute_at(out, xi)
    .split(y, y, yi, 4, TailStrategy::RoundUp)
    .unroll(yi);
)");
    EXPECT_EQ(statements(text, "prod.update(0)"), R"(prod.update(0)
    .split(y, y, yi, 4, TailStrategy::GuardWithIf)
    .unroll(yi)
    .reorder(x, yi, r, y);
)");
    EXPECT_FALSE(contains(text, ".in("));
}

// Sizes are estimates only. Stages that read no input are rounded up; the output shifts the tiles
// of its threads inwards where it is high enough, and guards every point otherwise; the stage that
// reads the input has one point per thread.
TEST(LowerSchedule, StencilsAtTheRoot) {
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
TEST(LowerSchedule, ScanOverColumns) {
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
TEST(LowerSchedule, HistogramInTheBlockOfItsConsumer) {
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

// A thread of a block of which nothing but one point is left still is a thread: what is computed in
// it must not become shared.
TEST(LowerSchedule, SingleThreadAroundAFusedFunc) {
    const Pipeline p(stencil_graph(100));
    const std::string text = lowered_text(p, R"(
h 25 (0, 0) t gpu_block
 h 1 (0, 0) t gpu_thread
  g 4 (0, 0) t gpu_serial
   g 1 (0, 0) * gpu_simd
    inlined: f 3
  h 4 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)");
    EXPECT_EQ(statements(text, "h"), R"(h
    .compute_root()
    .split(x, x, xi, 4, TailStrategy::GuardWithIf)
    .unroll(xi)
    .split(x, x, x_thread, 1, TailStrategy::Auto)
    .reorder(xi, x_thread, x)
    .gpu_blocks(x)
    .gpu_threads(x_thread);
)");
    EXPECT_EQ(statements(text, "g"), R"(g
    .compute_at(h, x_thread)
    .split(x, x, xi, 4, TailStrategy::RoundUp)
    .unroll(xi);
)");
}

TEST(LowerSchedule, SpareBlocksBecomeThreads) {
    const Pipeline many(stencil_graph(100000));
    const std::string tree = R"(
h SIZE (0, 0) t gpu_block
 h 1 (0, 0) t gpu_thread
  h 1 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
    inlined: g 1
    inlined: f 3
)";
    const auto with_size = [&](const std::string &size) {
        std::string text = tree;
        return text.replace(text.find("SIZE"), 4, size);
    };
    EXPECT_TRUE(contains(lowered_text(many, with_size("100000")),
                         ".split(x, x, xi, 32, TailStrategy::GuardWithIf)"));
    // 80 multiprocessors: 200 blocks may become 100 with two threads each.
    const Pipeline some(stencil_graph(200));
    EXPECT_TRUE(contains(lowered_text(some, with_size("200")),
                         ".split(x, x, xi, 2, TailStrategy::GuardWithIf)"));
    const Pipeline few(stencil_graph(100));
    EXPECT_FALSE(contains(lowered_text(few, with_size("100")), "split"));
}

TEST(LowerSchedule, NamesOfSplitsDoNotClashWithArguments) {
    GraphBuilder b;
    b.func("f", {"x", "xi"}).output({64, 8});
    const Pipeline p(b.build());
    const std::string text = lowered_text(p, R"(
f 2 1 (0, 0) t gpu_block
 f 32 8 (0, 0) t gpu_thread
  f 1 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
)");
    EXPECT_TRUE(contains(text, "Var xi_2(\"xi_2\");\n")) << text;
    EXPECT_TRUE(contains(text, ".split(x, x, xi_2, 32,")) << text;
    EXPECT_TRUE(contains(text, ".split(xi, xi, xii, 8,")) << text;
}

// A loop of one trip is no block loop and stays inside of them; the tall dimension does not fit
// into grid y.
TEST(LowerSchedule, TallOutputIsSpreadOverGridX) {
    GraphBuilder b;
    b.func("f", {"x", "y"}).output({16, 4000000}, false);
    const Pipeline p(b.build());
    EXPECT_EQ(statements(lowered_text(p, R"(
f 1 125000 (0, 0) t gpu_block
 f 16 16 (0, 0) t gpu_thread
  f 1 2 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
)"),
                         "f"),
              R"(f
    .specialize(f.output_buffers()[0].dim(1).extent() >= 2)
    .split(x, x, xi, 16, TailStrategy::GuardWithIf)
    .split(y, y, yii, 2, TailStrategy::ShiftInwards)
    .split(y, y, yi, 16, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y)
    .fuse(x, y, x)
    .gpu_blocks(x)
    .gpu_threads(xi)
    .gpu_threads(yi);
f
    .compute_root()
    .split(x, x, xi, 16, TailStrategy::GuardWithIf)
    .split(y, y, yii, 2, TailStrategy::GuardWithIf)
    .split(y, y, yi, 16, TailStrategy::GuardWithIf)
    .unroll(yii)
    .reorder(yii, xi, yi, x, y)
    .fuse(x, y, x)
    .gpu_blocks(x)
    .gpu_threads(xi)
    .gpu_threads(yi);
)");
}

TEST(LowerSchedule, LoopsOfOneTripStayInsideTheBlocks) {
    GraphBuilder b;
    b.func("f", {"x", "c", "y"}).output({64, 3, 64});
    const Pipeline p(b.build());
    const std::string text = lowered_text(p, R"(
f 2 1 64 (0, 0) t gpu_block
 f 32 3 1 (0, 0) t gpu_thread
  f 1 1 1 (0, 0) t gpu_serial
   f 1 1 1 (0, 0) * gpu_simd
)");
    EXPECT_EQ(statements(text, "f"), R"(f
    .compute_root()
    .split(x, x, xi, 32, TailStrategy::GuardWithIf)
    .split(c, c, ci, 3, TailStrategy::GuardWithIf)
    .reorder(xi, ci, c, x, y)
    .gpu_blocks(x)
    .gpu_blocks(y)
    .gpu_threads(xi)
    .gpu_threads(ci);
)");
}

// The extent of the box that `g` keeps in a thread depends on a parameter.
TEST(LowerSchedule, VariableSizeInAThreadGoesToTheRoot) {
    PipelineGraph graph = stencil_graph(1000);
    graph.edges[0].bounds[0].max.exact = false;
    const Pipeline p(std::move(graph));
    const std::string tree = R"(
h 8 (0, 0) t gpu_block
 h 32 (0, 0) t gpu_thread
  g 4 (0, 0) t gpu_serial
   f 3 (0, 0) t gpu_serial
    f 1 (0, 0) * gpu_simd
   g 1 (0, 0) * gpu_simd
  h 4 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)";
    ASSERT_EQ(p.graph.edge(0).producer, 1);
    const std::string text = lowered_text(p, tree);
    EXPECT_EQ(statements(text, "g"), R"(g
    .compute_root()
    .split(x, x, xi, 32, TailStrategy::RoundUp)
    .gpu_blocks(x)
    .gpu_threads(xi);
)") << text;
    // What one thread of `g` needs has a constant size.
    EXPECT_TRUE(contains(statements(text, "f"), ".compute_at(g, xi)")) << text;
}

TEST(LowerSchedule, SurplusThreadsBecomeSerialLoops) {
    GraphBuilder b;
    b.func("f", {"x", "y", "z", "w"}).output({32, 8, 8, 8});
    const Pipeline p(b.build());
    const std::string text = lowered_text(p, R"(
f 1 1 1 1 (0, 0) t gpu_block
 f 32 8 4 8 (0, 0) t gpu_thread
  f 1 1 2 1 (0, 0) t gpu_serial
   f 1 1 1 1 (0, 0) * gpu_simd
)");
    EXPECT_TRUE(contains(text, ".gpu_threads(xi)\n    .gpu_threads(yi)\n    .gpu_threads(zi);"))
        << text;
}

TEST(LowerSchedule, ReductionIntoAScalarIsOneThread) {
    const Pipeline p(scalar_reduction_graph());
    const std::string text = lowered_text(p, R"(
sum (-1, 0) t gpu_none
 sum (-1, 0) * gpu_simd
sum 100 (-1, 0) t gpu_none
 sum 1 (-1, 0) * gpu_simd
)");
    EXPECT_EQ(statements(text, "sum"), "sum\n    .compute_root()\n    .gpu_single_thread();\n");
    EXPECT_EQ(statements(text, "sum.update(0)"), "sum.update(0)\n    .gpu_single_thread();\n");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
