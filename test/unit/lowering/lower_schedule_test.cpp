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

// A thread of a block of which nothing but one point is left still is a thread: what is computed in
// it must not become shared.
TEST(LowerSchedule, SingleThreadAroundAFusedFunc) {
    const Pipeline p(stencil_graph(100));
    LoweringOptions options;
    options.spread_blocks = false;
    const LoopNestPtr tree = p.tree(R"(
h 25 (0, 0) t gpu_block
 h 1 (0, 0) t gpu_thread
  g 4 (0, 0) t gpu_serial
   g 1 (0, 0) * gpu_simd
    inlined: f 3
  h 4 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)");
    const std::string text =
        print_trace(lower_schedule(*tree, p.graph, GpuDevice(), options), p.graph);

    EXPECT_EQ(statements(text, "h"), R"(h
    .compute_root()
    .split(x, x, xi, 4, TailStrategy::GuardWithIf)
    .unroll(xi)
    .split(x, x, x_thread, 1, TailStrategy::Auto)
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
    // Not even if there are fewer warps than multiprocessors.
    const Pipeline few(stencil_graph(100));
    EXPECT_TRUE(contains(lowered_text(few, with_size("100")), ".split(x, x, xi, 32,"));
    const Pipeline tiny(stencil_graph(5));
    EXPECT_TRUE(contains(lowered_text(tiny, with_size("5")), ".split(x, x, xi, 5"));
    const Pipeline one(stencil_graph(1));
    EXPECT_FALSE(contains(lowered_text(one, with_size("1")), "split"));
}

// Blocks of few threads are filled up, along other dimensions too, only if there is little to do.
TEST(LowerSchedule, TinyOutputsFillWarps) {
    const auto text_of = [](int64_t width, int64_t height) {
        GraphBuilder b;
        b.func("f", {"x", "y"}).output({8 * width, height});
        const Pipeline p(b.build());
        return lowered_text(p,
                            "\nf " + std::to_string(width) + " " + std::to_string(height) +
                                " (0, 0) t gpu_block\n f 8 1 (0, 0) t gpu_thread\n"
                                "  f 1 1 (0, 0) t gpu_serial\n   f 1 1 (0, 0) * gpu_simd\n");
    };
    const std::string tiny = text_of(1, 8);
    EXPECT_TRUE(contains(tiny, ".split(x, x, xi, 8,")) << tiny;
    EXPECT_TRUE(contains(tiny, ".split(y, y, yi, 4,")) << tiny;
    EXPECT_TRUE(contains(tiny, ".gpu_threads(xi)\n    .gpu_threads(yi)")) << tiny;
    const std::string flat = text_of(4, 1);
    EXPECT_TRUE(contains(flat, ".split(x, x, xi, 32,")) << flat;
    const std::string large = text_of(100, 100);
    EXPECT_TRUE(contains(large, ".split(x, x, xi, 8,")) << large;
    EXPECT_FALSE(contains(large, "split(y")) << large;
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

// g1 has to leave its thread, so g2 has to leave the block. Then f, of variable size as well, would
// be in a thread of g2 instead of a block.
TEST(LowerSchedule, OthersFollowToTheRoot) {
    GraphBuilder b;
    b.func("h", {"x"}).output({1024}).reads("g1", {at("x", 0, 2)});
    b.func("g1", {"x"}).reads("g2", {at("x")});
    b.func("g2", {"x"}).reads("f", {at("x", 0, 2)});
    b.func("f", {"x"});
    PipelineGraph graph = b.build();
    graph.edges[0].bounds[0].max.exact = false;
    graph.edges[2].bounds[0].max.exact = false;
    const Pipeline p(std::move(graph));
    const std::string text = lowered_text(p, R"(
h 8 (0, 0) t gpu_block
 g2 130 (0, 0) t gpu_serial
  f 3 (0, 0) t gpu_thread
   f 1 (0, 0) t gpu_serial
    f 1 (0, 0) * gpu_simd
  g2 1 (0, 0) * gpu_simd
 h 32 (0, 0) t gpu_thread
  g1 6 (0, 0) t gpu_serial
   g1 1 (0, 0) * gpu_simd
  h 4 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)");
    for (const char *func : {"g1", "g2", "f"}) {
        EXPECT_TRUE(contains(statements(text, func), ".compute_root()")) << text;
    }
}

// 16 copies of the body of output would each have 9 copies of the body of Ix, with an array inside.
TEST(LowerSchedule, NestedUnrollingIsLimited) {
    const Pipeline p(harris_graph());
    const std::string text = lowered_text(p, R"(
output 24 80 (0, 0) t gpu_block
 output 32 4 (0, 0) t gpu_thread
  output 2 8 (0, 0) t gpu_serial
   Sxx 1 1 (0, 0) t gpu_serial
    Sxx 1 1 (0, 0) * gpu_simd
     inlined: Ixx 9
   Ix 3 3 (0, 0) t gpu_serial
    gray 3 3 (0, 0) t gpu_serial
     gray 1 1 (0, 0) * gpu_simd
    Ix 1 1 (0, 0) * gpu_simd
   output 1 1 (0, 0) * gpu_simd
    inlined: trace 1
    inlined: det 1
    inlined: Syy 2
    inlined: Iyy 18
    inlined: Sxy 1
    inlined: Ixy 9
    inlined: Iy 27
)");
    EXPECT_TRUE(contains(statements(text, "output"), "unroll")) << text;
    EXPECT_FALSE(contains(statements(text, "Ix"), "unroll")) << text;
    EXPECT_TRUE(contains(statements(text, "gray"), "unroll")) << text;
}

// f may have more rows and columns than there are threads, so its code stands in loops.
TEST(LowerSchedule, CodeThatReadsMuchIsNotUnrolledInLoopsOfUnknownLength) {
    const auto unrolls = [](int64_t reads) {
        GraphBuilder b;
        b.func("out", {"x", "y"}).output({1024, 1024});
        b.reads("f", {test::divided("x", 2), test::divided("y", 2)});
        b.func("f", {"x", "y"}).reads("g", {at("x"), at("y")}, reads);
        b.func("g", {"x", "y"}).input();
        const Pipeline p(b.build());
        const std::string text = lowered_text(p, R"(
out 32 32 (0, 0) t gpu_block
 f 16 2 (0, 0) t gpu_thread
  f 1 8 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
 out 32 4 (0, 0) t gpu_thread
  out 1 8 (0, 0) t gpu_serial
   out 1 1 (0, 0) * gpu_simd
)");
        return contains(statements(text, "f"), "unroll");
    };
    EXPECT_TRUE(unrolls(20));
    EXPECT_FALSE(unrolls(21));
}

/// A stage that reads the input and is read at distances 0 to 3: f is four points longer than out.
PipelineGraph input_stage(bool by_parameter) {
    GraphBuilder b;
    b.func("out", {"x"}).output({1600}, false).reads("f", {at("x", 0, 3)}, 4);
    b.func("f", {"x"}).reads("in", {at("x")});
    b.func("in", {"x"}).input();
    PipelineGraph graph = b.build();
    if (by_parameter) {
        graph.edges[0].bounds[0].max.exact = false;
    }
    return graph;
}

const char *const kInputStage = R"(
f 7 (0, 0) t gpu_block
 f 64 (0, 0) t gpu_thread
  f 4 (0, 0) t gpu_serial
   f 1 (0, 0) * gpu_simd
out 25 (0, 0) t gpu_block
 out 64 (0, 0) t gpu_thread
  out 1 (0, 0) t gpu_serial
   out 1 (0, 0) * gpu_simd
)";

// Tiles of 4 fit into f at any size of out of at least a sixteenth of the estimate. Then none is
// cut; otherwise every point is guarded.
TEST(LowerSchedule, StageThatReadsTheInputDependsOnTheSizeOfTheOutput) {
    const Pipeline p(input_stage(false));
    EXPECT_EQ(statements(lowered_text(p, kInputStage), "f"), R"(f
    .specialize(out.output_buffers()[0].dim(0).extent() >= 100)
    .split(x, x, xii, 4, TailStrategy::ShiftInwards)
    .split(x, x, xi, 64, TailStrategy::GuardWithIf)
    .unroll(xii)
    .gpu_blocks(x)
    .gpu_threads(xi);
f
    .compute_root()
    .split(x, x, xii, 4, TailStrategy::GuardWithIf)
    .split(x, x, xi, 64, TailStrategy::GuardWithIf)
    .unroll(xii)
    .gpu_blocks(x)
    .gpu_threads(xi);
)");
}

TEST(LowerSchedule, StageWhoseSizeDependsOnAParameterIsGuarded) {
    const Pipeline p(input_stage(true));
    EXPECT_EQ(statements(lowered_text(p, kInputStage), "f"), R"(f
    .compute_root()
    .split(x, x, xii, 4, TailStrategy::GuardWithIf)
    .split(x, x, xi, 64, TailStrategy::GuardWithIf)
    .unroll(xii)
    .gpu_blocks(x)
    .gpu_threads(xi);
)");
}

// 1024 values of four bytes fit into shared memory four times over, 8192 values do not.
TEST(LowerSchedule, VariableSizeInABlockStaysThereIfItMayGrow) {
    const auto place_of_g = [](int64_t tile, bool exact) {
        PipelineGraph graph = stencil_graph(16384);
        graph.edges[0].bounds[0].max.exact = exact;
        const Pipeline p(std::move(graph));
        const std::string threads = std::to_string(tile / 16),
                          blocks = std::to_string(16384 / tile);
        const std::string text =
            lowered_text(p,
                         "h " + blocks + " (0, 0) t gpu_block\n g " + threads +
                             " (0, 0) t gpu_thread\n  g 16 (0, 0) t gpu_serial\n"
                             "   g 1 (0, 0) * gpu_simd\n    inlined: f 3\n h " +
                             threads +
                             " (0, 0) t gpu_thread\n  h 16 (0, 0) t gpu_serial\n"
                             "   h 1 (0, 0) * gpu_simd\n");
        return contains(statements(text, "g"), ".compute_at(h, x)");
    };
    EXPECT_TRUE(place_of_g(4096, true));
    EXPECT_TRUE(place_of_g(1024, false));
    EXPECT_FALSE(place_of_g(8192, false));
    EXPECT_TRUE(place_of_g(8192, true));
}

// A block that starts at an odd point needs one value more than the one that was planned with.
TEST(LowerSchedule, BlocksElsewhereMayNeedMore) {
    const auto place_of_g = [](int64_t tile) {
        GraphBuilder b;
        b.func("h", {"x"}).output({1 << 20}).reads("g", {test::divided("x", 2)});
        b.func("g", {"x"});
        const Pipeline p(b.build());
        const std::string text = lowered_text(
            p,
            "h " + std::to_string(((1 << 20) + tile - 1) / tile) + " (0, 0) t gpu_block\n g " +
                std::to_string(tile / 2) +
                " (0, 0) t gpu_thread\n  g 1 (0, 0) t gpu_serial\n   g 1 (0, 0) * gpu_simd\n h " +
                std::to_string(tile) +
                " (0, 0) t gpu_thread\n  h 1 (0, 0) t gpu_serial\n   h 1 (0, 0) * gpu_simd\n");
        return contains(statements(text, "g"), ".compute_at(h, x)");
    };
    // 12288 values are 48 KiB.
    EXPECT_TRUE(place_of_g(16384));
    EXPECT_FALSE(place_of_g(2 * 12288));
}

// Rows of f are rounded up from 40 to 42 if there is room for rounding columns, too.
TEST(LowerSchedule, RoundingStaysWithinSharedMemory) {
    const auto rounds = [](int64_t bytes) {
        GraphBuilder b;
        b.func("out", {"x", "y"}).output({2560, 380}).reads("f", {at("x", 0, 2), at("y", 0, 2)}, 9);
        b.func("f", {"x", "y"}).bytes_per_point(bytes);
        const Pipeline p(b.build());
        return contains(statements(lowered_text(p, R"(
out 10 10 (0, 0) t gpu_block
 f 43 6 (0, 0) t gpu_thread
  f 6 7 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
 out 64 2 (0, 0) t gpu_thread
  out 4 19 (0, 0) t gpu_serial
   out 1 1 (0, 0) * gpu_simd
)"),
                                   "f"),
                        "split(y, y, yi, 7, TailStrategy::RoundUp)");
    };
    // 258 x 40 points, at most 1.125 times as many in each dimension.
    EXPECT_TRUE(rounds(3));
    EXPECT_FALSE(rounds(4));
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
