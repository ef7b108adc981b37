#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/feature_view.h"
#include "schedule/schedule_text.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

std::string view_of(const test::Pipeline &p, const LoopNestPtr &root) {
    return print_schedule(*make_feature_view(root, p.editor), p.graph);
}

TEST(FeatureView, UntiledNestsGetOneWarpPerBlock) {
    const test::Pipeline p(test::mat_mul_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(root, 0, {1, 4}, {64, 1});
    root = p.place_at_root(root, 1);
    const LoopNestPtr view = make_feature_view(root, p.editor);
    EXPECT_EQ(view->children[0], root->children[0]) << "complete blocks are shared";
    EXPECT_EQ(print_schedule(*view, p.graph), R"( gpu_none
realize: out [1024c, 1024c] with 1 stages
realize: prod [1024c, 1024c] with 2 stages
prod 32c 1024c (0, 0) t gpu_block
 prod 32c 1c (0, 0) t gpu_thread
  prod 1c 1c (0, 0) t gpu_serial
   prod 1vc 1c (0, 0) * gpu_simd
prod 1c 32c 1024c (1, 0) t gpu_block
 prod 1c 32c 1c (1, 0) t gpu_thread
  prod 1024c 1c 1c (1, 0) t gpu_serial
   prod 1c 1vc 1c (1, 0) * gpu_simd
out 16c 256c (0, 0) t gpu_block
 out 64c 1c (0, 0) t gpu_thread
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)");
}

TEST(FeatureView, LanesRunAlongTheVectorDimension) {
    const test::Pipeline p(test::mat_mul_graph(20));
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.place_at_root(root, 1, 1);
    const LoopNestPtr view = make_feature_view(root, p.editor);
    EXPECT_EQ(view->children[1]->size, (std::vector<int64_t>{1, 20, 1}));
    EXPECT_EQ(view->children[1]->children[0]->size, (std::vector<int64_t>{1, 1, 20}));
    EXPECT_EQ(view->children[2]->children[0]->size, (std::vector<int64_t>{1, 20}));
}

TEST(FeatureView, CompleteTreesAreReturnedAsTheyAre) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInBlock);
    EXPECT_EQ(make_feature_view(root, p.editor), root);
}

TEST(FeatureView, ScalarsStayAndTheirReductionsGetOneThread) {
    const test::Pipeline p(test::scalar_reduction_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(root, 0, {1, 1}, {32, 1});
    root = p.place_at_root(root, 1);
    EXPECT_EQ(view_of(p, root), R"( gpu_none
realize: out [64c, 32c] with 1 stages
realize: sum [] with 2 stages
sum (-1, 0) t gpu_none
 sum (-1, 0) * gpu_simd
sum 1c (-1, 0) t gpu_block
 sum 1c (-1, 0) t gpu_thread
  sum 100c (-1, 0) t gpu_serial
   sum 1c (-1, 0) * gpu_simd
out 2c 32c (0, 0) t gpu_block
 out 32c 1c (0, 0) t gpu_thread
  out 1c 1c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)");
}

TEST(FeatureView, SerialLevelsOfABlockGetAThread) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(R"(
out 16 256 (0, 0) t gpu_block
 prod 64 4 (0, 0) t gpu_serial
  prod 1 1 (0, 0) * gpu_simd
 prod 1024 64 4 (1, 0) t gpu_serial
  prod 1 1 1 (1, 0) * gpu_simd
 out 64 1 (0, 0) t gpu_thread
  out 1 4 (0, 0) t gpu_serial
   out 1 1 (0, 0) * gpu_simd
)");
    EXPECT_EQ(view_of(p, root), R"( gpu_none
realize: out [1024c, 1024c] with 1 stages
out 16c 256c (0, 0) t gpu_block
 realize: prod [64c, 4c] with 2 stages
 prod 1c 1c (0, 0) t gpu_thread
  prod 64c 4c (0, 0) t gpu_serial
   prod 1vc 1c (0, 0) * gpu_simd
 prod 1c 1c 1c (1, 0) t gpu_thread
  prod 1024c 64c 4c (1, 0) t gpu_serial
   prod 1c 1vc 1c (1, 0) * gpu_simd
 out 64c 1c (0, 0) t gpu_thread
  out 1c 4c (0, 0) t gpu_serial
   out 1vc 1c (0, 0) * gpu_simd
)");
}

TEST(FeatureView, SerialLevelWithThreadsInsideGetsThemForAllChildren) {
    // g has no threads of its own, but f inside it does: then g's leaf needs a thread.
    const test::Pipeline p(test::stencil_graph());
    const LoopNestPtr root = p.tree(R"(
h 32 (0, 0) t gpu_block
 g 32 (0, 0) t gpu_serial
  f 3 (0, 0) t gpu_thread
   f 1 (0, 0) t gpu_serial
    f 1 (0, 0) * gpu_simd
  g 1 (0, 0) * gpu_simd
 h 32 (0, 0) t gpu_thread
  h 1 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)");
    EXPECT_EQ(view_of(p, root), R"( gpu_none
realize: h [1024c] with 1 stages
h 32c (0, 0) t gpu_block
 realize: g [32c] with 1 stages
 g 32c (0, 0) t gpu_serial
  realize: f [3c] with 1 stages
  f 3c (0, 0) t gpu_thread
   f 1c (0, 0) t gpu_serial
    f 1vc (0, 0) * gpu_simd
  g 1c (0, 0) t gpu_thread
   g 1vc (0, 0) * gpu_serial
 h 32c (0, 0) t gpu_thread
  h 1c (0, 0) t gpu_serial
   h 1vc (0, 0) * gpu_simd
)");
}

TEST(FeatureView, UpdateWithoutLoopsInABlock) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({1024}).wrapper().reads("f", {test::at("x")});
    b.func("f", {"x"}).update({}, {test::constant(3, 3)});
    const test::Pipeline p(b.build());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(root, 0, {4}, {32});
    const LoopNest &block = *root->children[0];
    std::vector<LoopNestPtr> children = block.children;
    for (const LoopNestPtr &n : p.editor.place(1, 0, block, false)) {
        children.push_back(p.editor.with_axis(*n, GpuAxis::Serial));
    }
    root = p.editor.with_children(*root, {p.editor.with_children(block, children)});
    EXPECT_EQ(view_of(p, root), R"( gpu_none
realize: out [1024c] with 1 stages
out 8c (0, 0) t gpu_block
 realize: f [128c] with 2 stages
 f 1c (0, 0) t gpu_thread
  f 128c (0, 0) t gpu_serial
   f 1vc (0, 0) * gpu_simd
 f (-1, 0) t gpu_thread
  f (-1, 0) t gpu_serial
   f (-1, 0) * gpu_simd
 out 32c (0, 0) t gpu_thread
  out 4c (0, 0) t gpu_serial
   out 1vc (0, 0) * gpu_simd
)");
}

TEST(FeatureView, NoThreadsInsideTheThreadOfAnUntiledNest) {
    test::GraphBuilder b;
    b.func("sum", {}).output({}).update({{"r", 0, 99}}, {}).reads("f", {test::at("r", 0, 7)}, 8);
    b.func("f", {"x"});
    const test::Pipeline p(b.build());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const LoopNest &update = *root->children[0];
    std::vector<LoopNestPtr> fused = update.children;
    for (const LoopNestPtr &n : p.editor.place(1, 0, update, /*in_thread=*/false)) {
        fused.push_back(n);
    }
    root =
        p.editor.with_children(*root, {p.editor.with_children(update, fused), root->children[1]});
    const LoopNestPtr view = make_feature_view(root, p.editor);
    const LoopNest *const thread = test::find_nest(*view, 1, GpuAxis::Thread);
    ASSERT_NE(thread, nullptr);
    EXPECT_EQ(test::find_nest(*view, 2, GpuAxis::Thread), nullptr);
    EXPECT_NE(test::find_nest(*thread, 2, GpuAxis::Serial), nullptr);
}

}  // namespace
}  // namespace anderson2021
