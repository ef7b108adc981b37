#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/schedule_text.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

TEST(ScheduleText, PrintsWhatItWasBuiltFrom) {
    const test::Pipeline mat_mul(test::mat_mul_graph());
    for (const char *text : {test::kMatMulAtRoot, test::kMatMulInBlock, test::kMatMulInThread}) {
        EXPECT_EQ(print_schedule(*mat_mul.tree(text), mat_mul.graph), text);
    }
    const test::Pipeline harris(test::harris_graph());
    EXPECT_EQ(print_schedule(*harris.tree(test::kHarrisFused), harris.graph), test::kHarrisFused);
}

TEST(ScheduleText, ReferenceDialectRealizesAtAllAncestors) {
    const test::Pipeline p(test::mat_mul_graph());
    const std::string text =
        print_schedule(*p.tree(test::kMatMulInThread), p.graph, /*reference_dialect=*/true);
    EXPECT_EQ(text, R"( gpu_none
realize: out [1024c, 1024c] with 1 stages
realize: prod [1024c, 1024c] with 2 stages
out 16c 256c (0, 0) t gpu_block
 realize: prod [64c, 4c] with 2 stages
 out 64c 1c (0, 0) t gpu_thread
  realize: prod [1c, 4c] with 2 stages
  prod 1c 4c (0, 0) t gpu_serial
   prod 1vc 1c (0, 0) * gpu_simd
  prod 1024c 1c 4c (1, 0) t gpu_serial
   prod 1c 1vc 1c (1, 0) * gpu_simd
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)");
}

TEST(ScheduleText, UntiledAndScalar) {
    const test::Pipeline p(test::scalar_reduction_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0, 1);
    root = p.place_at_root(root, 1);
    EXPECT_EQ(print_schedule(*root, p.graph), R"( gpu_none
realize: out [64c, 32c] with 1 stages
realize: sum [] with 2 stages
sum (-1, 0) t gpu_none
 sum (-1, 0) * gpu_simd
sum 100c (-1, 0) t gpu_none
 sum 1c (-1, 0) * gpu_simd
out 64c 32c (1, 1) t gpu_none
 out 1c 1vc (1, 1) * gpu_simd
)");
}

TEST(ScheduleText, ManyInlinedFuncsAreSorted) {
    const test::Pipeline p(test::harris_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    for (const int f : {2, 1, 5}) {
        root = p.editor.inline_func(root, f);
    }
    EXPECT_NE(print_schedule(*root, p.graph)
                  .find("  inlined: det 1\n"
                        "  inlined: trace 1\n"
                        "  inlined: Sxy 1\n"),
              std::string::npos);
    for (const int f : {6, 3}) {
        root = p.editor.inline_func(root, f);
    }
    EXPECT_NE(print_schedule(*root, p.graph)
                  .find("  inlined: trace 1\n"
                        "  inlined: det 1\n"
                        "  inlined: Syy 2\n"
                        "  inlined: Sxy 1\n"
                        "  inlined: Ixy 9\n"),
              std::string::npos);
}

}  // namespace
}  // namespace anderson2021
