#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/schedule_rebuilder.h"
#include "schedule/schedule_text.h"
#include "schedule_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
    const size_t pos = text.find(from);
    EXPECT_NE(pos, std::string::npos) << from;
    return text.replace(pos, from.size(), to);
}

std::string error_of(const test::Pipeline &p, const std::string &text) {
    try {
        rebuild_schedule(parse_schedule(text, "file"), p.editor);
    } catch (const UserError &e) {
        return e.what();
    }
    return "";
}

TEST(RebuildSchedule, SameTreeAsStepByStep) {
    const test::Pipeline p(test::mat_mul_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(root, 0, {1, 4}, {64, 1});
    root = p.tile_at_root(p.place_at_root(root, 1), 1, {1, 4}, {64, 1});
    const LoopNestPtr rebuilt =
        rebuild_schedule(parse_schedule(test::kMatMulAtRoot, "file"), p.editor);
    EXPECT_TRUE(rebuilt->same_structure(*root));
    for (size_t i = 0; i < 3; i++) {
        EXPECT_EQ(rebuilt->children[i]->regions, root->children[i]->regions);
        EXPECT_EQ(rebuilt->children[i]->children[0]->regions,
                  root->children[i]->children[0]->regions);
    }
}

TEST(RebuildSchedule, BothDialects) {
    const test::Pipeline p(test::mat_mul_graph());
    for (const char *text : {test::kMatMulAtRoot, test::kMatMulInBlock, test::kMatMulInThread}) {
        const LoopNestPtr root = rebuild_schedule(parse_schedule(text, "file"), p.editor);
        const std::string reference = print_schedule(*root, p.graph, true);
        const LoopNestPtr again = rebuild_schedule(parse_schedule(reference, "file"), p.editor);
        EXPECT_TRUE(root->same_structure(*again));
    }
}

TEST(RebuildSchedule, ThreadsInBlocksAreSplitFromOutside) {
    // 34 points by 32 threads: two points each, and the tile in the middle starts at 16 * 2.
    const test::Pipeline p(test::harris_graph());
    const std::string text =
        replaced(replaced(test::kHarrisFused, " Iy 34c 4c", " Iy 32c 4c"), "Iy 1c 9c", "Iy 2c 9c");
    const LoopNestPtr root = rebuild_schedule(parse_schedule(text, "file"), p.editor);
    const int iy = p.graph.find_func("Iy");
    const LoopNest *const thread = test::find_nest(*root, iy, GpuAxis::Thread);
    ASSERT_NE(thread, nullptr);
    const int64_t start = root->children[0]->regions->of(iy).loop(0, 0).min;
    EXPECT_EQ(thread->regions->own().loop(0, 0), (Span{start + 32, start + 33, true, true}));
}

TEST(RebuildSchedule, PartialTrees) {
    const test::Pipeline p(test::mat_mul_graph());
    const std::string text = "out 1024 1024 (1, 1) t gpu_none\n out 1 1 (1, 1) * gpu_simd\n";
    const LoopNestPtr root =
        rebuild_schedule(parse_schedule(text, "file"), p.editor, /*complete=*/false);
    EXPECT_TRUE(root->same_structure(*p.place_at_root(p.editor.make_root(), 0, 1)));
    EXPECT_EQ(error_of(p, text), "file: Func prod is neither placed nor inlined");
}

TEST(RebuildSchedule, OutsideTheSearchSpace) {
    const test::Pipeline p(test::mat_mul_graph());
    const std::string good = test::kMatMulInBlock;
    const struct {
        const char *from, *to, *error;
    } cases[] = {
        {"out 16c 256c", "out 16c 128c", "file:3: sizes (16 128) instead of (16 256)"},
        {"  out 1c 4c", "  out 1c 3c", "file:3: sizes (16 256) instead of (16 342)"},
        {" prod 64c 1c (0, 0) t gpu_thread",
         " prod 64c 1c (0, 0) t gpu_serial",
         "file:5: Func prod cannot have these levels here"},
        {"  prod 1024c 1c 4c",
         "  prod 512c 1c 4c",
         "file:9: sizes (512 1 4) instead of (1024 1 4)"},
        {"   prod 1vc 1c (0, 0) * gpu_simd\n",
         "",
         "file:6: the next level of Func prod should come last here"},
        {" prod 1c 64c 1c (1, 0) t gpu_thread",
         " prod 1c 64c 1c (2, 0) t gpu_thread",
         "file:8: loops or lane loop are not those of Func prod"},
        {"realize: prod [64c, 4c] with 2",
         "realize: prod [64c, 5c] with 2",
         "file:4: Func prod computes (64 4) here in 2 stages"},
        {" prod 64c 1c (0, 0) t gpu_thread",
         " A_im 64 1 (0, 0) t gpu_serial\n  A_im 1 1 (0, 0) * gpu_simd\n"
         " prod 64c 1c (0, 0) t gpu_thread",
         "file:5: the pipeline has no Func A_im to be scheduled"},
    };
    EXPECT_EQ(error_of(p, good), "");
    for (const auto &c : cases) {
        EXPECT_EQ(error_of(p, replaced(good, c.from, c.to)), c.error) << c.to;
    }
    EXPECT_EQ(error_of(p, good + "inlined: foo 3\n"),
              "file: the pipeline has no Func foo (names include suffixes such as $1)");
}

TEST(RebuildSchedule, MissingStagesLevelsAndCalls) {
    const test::Pipeline p(test::harris_graph());
    const std::string good = test::kHarrisFused;
    EXPECT_EQ(error_of(p, good), "");
    EXPECT_EQ(error_of(p, replaced(good, "inlined: det 1", "inlined: det 2")),
              "file:26: Func det is inlined here 1 times, but the text does not say so");
    EXPECT_EQ(
        error_of(
            p, replaced(good, "    inlined: Ixy 9\n", "    inlined: Ixy 9\n    inlined: Iyy 9\n")),
        "file:26: Funcs are inlined here that do not occur here");
    EXPECT_EQ(error_of(p,
                       replaced(good,
                                "   output 1vc 1c (0, 0) * gpu_simd",
                                "    output 1vc 1c (0, 0) * gpu_simd")),
              "file:18: the next level of Func output should come last here");

    const test::Pipeline q(test::mat_mul_graph());
    EXPECT_EQ(error_of(q, R"(
out 16 256 (0, 0) t gpu_block
 prod 64 4 (0, 0) t gpu_serial
  prod 1 1 (0, 0) * gpu_simd
 out 64 1 (0, 0) t gpu_thread
  out 1 4 (0, 0) t gpu_serial
   out 1 1 (0, 0) * gpu_simd
)"),
              "file:3: loops or lane loop are not those of Func prod");
}

TEST(RebuildSchedule, FuncThatNothingHereNeeds) {
    test::GraphBuilder b;
    b.func("a", {"x"}).output({1024});
    b.func("b", {"x"}).output({1024}).reads("f", {test::at("x")});
    b.func("f", {"x"});
    const test::Pipeline p(b.build());
    EXPECT_EQ(error_of(p, R"(
b 8 (0, 0) t gpu_block
 b 32 (0, 0) t gpu_thread
  b 4 (0, 0) t gpu_serial
   b 1 (0, 0) * gpu_simd
a 8 (0, 0) t gpu_block
 f 32 (0, 0) t gpu_serial
  f 1 (0, 0) * gpu_simd
 a 32 (0, 0) t gpu_thread
  a 4 (0, 0) t gpu_serial
   a 1 (0, 0) * gpu_simd
)"),
              "file:7: nothing here needs Func f");
}

}  // namespace
}  // namespace anderson2021
