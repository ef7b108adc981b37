#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/loop_nest_editor.h"
#include "schedule_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using Sizes = std::vector<int64_t>;

TEST(Place, LastStageFirstWithLeaves) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const std::vector<LoopNestPtr> nests = p.editor.place(1, 1, *root, false);
    ASSERT_EQ(nests.size(), 2u);
    const LoopNest &update = *nests[0];
    EXPECT_EQ(update.stage_index, 1);
    EXPECT_EQ(update.stage_id, 2);
    EXPECT_EQ(update.size, (Sizes{1024, 1024, 1024}));
    EXPECT_EQ(update.lane_loop, 2) << "loops are r, x, y";
    EXPECT_EQ(update.vector_dim, 1);
    EXPECT_EQ(update.axis, GpuAxis::None);
    EXPECT_FALSE(update.innermost);
    ASSERT_EQ(update.children.size(), 1u);
    const LoopNest &leaf = *update.children[0];
    EXPECT_TRUE(leaf.innermost);
    EXPECT_EQ(leaf.axis, GpuAxis::Simd);
    EXPECT_EQ(leaf.size, (Sizes{1, 1, 1}));
    EXPECT_EQ(leaf.lane_loop, 2);
    EXPECT_EQ(nests[1]->stage_index, 0);
    EXPECT_EQ(nests[1]->lane_loop, 1);
}

TEST(Place, RepresentsTheMiddleIteration) {
    const test::Pipeline p(test::mat_mul_graph(1001));
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const FuncRegion &own = root->children[0]->regions->own();
    EXPECT_EQ(own.loop(0, 0), Span::point(500));
    EXPECT_EQ(own.required(0), (Span{0, 1000, true, true})) << "regions do not shrink";
    EXPECT_EQ(own.computed(1), (Span{0, 1000, true, true}));
}

TEST(Place, LabelsDependOnTheSite) {
    const test::Pipeline p(test::mat_mul_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(root, 0, {1, 4}, {64, 1});
    const LoopNest &block = *root->children[0];
    EXPECT_EQ(p.editor.place(1, 0, block, false)[0]->axis, GpuAxis::Thread);
    EXPECT_EQ(p.editor.place(1, 0, *block.children[0], true)[0]->axis, GpuAxis::Serial);
}

TEST(Place, ScalarsAndConstantUpdatesHaveNoLaneLoop) {
    const test::Pipeline p(test::scalar_reduction_graph());
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const std::vector<LoopNestPtr> nests = p.editor.place(1, 0, *root, false);
    EXPECT_EQ(nests[0]->size, Sizes{100});
    EXPECT_EQ(nests[0]->lane_loop, -1);
    EXPECT_EQ(nests[1]->size, Sizes{});
    EXPECT_EQ(nests[1]->iterations(), 1);

    test::GraphBuilder b;
    b.func("f", {"x"}).output({64}).update({}, {test::constant(3, 3)});
    const test::Pipeline q(b.build());
    const std::vector<LoopNestPtr> f = q.editor.place(0, 0, *q.editor.make_root(), false);
    EXPECT_EQ(f[0]->size, Sizes{});
    EXPECT_EQ(f[0]->lane_loop, -1);
}

TEST(Place, EmptyReductionCountsOnce) {
    test::GraphBuilder b;
    b.func("f", {"x"}).output({64}).update({{"r", 0, -1}}, {test::at("x")});
    const test::Pipeline p(b.build());
    EXPECT_EQ(p.editor.place(0, 0, *p.editor.make_root(), false)[0]->size, (Sizes{1, 64}));
}

class Split : public ::testing::Test {
protected:
    Split() : root_(pipeline_.place_at_root(pipeline_.editor.make_root(), 0)) {
        root_ = pipeline_.place_at_root(root_, 1);
        update_ = root_->children[1];
    }

    LoopNestPtr split(const Sizes &tile, TileIs tile_is, bool adjust, bool inward = true) const {
        SplitOptions options;
        options.tile_is = tile_is;
        options.adjust = adjust;
        options.reductions_inward = inward;
        return pipeline_.editor.split(*update_, tile, *root_, options);
    }

    const test::Pipeline pipeline_{test::mat_mul_graph(1000)};
    LoopNestPtr root_, update_;
};

TEST_F(Split, InnerTile) {
    const LoopNestPtr outer = split({64, 300}, TileIs::Inner, false);
    EXPECT_EQ(outer->size, (Sizes{1, 16, 4}));
    EXPECT_EQ(outer->children[0]->size, (Sizes{1000, 64, 300}));
    const LoopNestPtr adjusted = split({64, 300}, TileIs::Inner, true);
    EXPECT_EQ(adjusted->size, (Sizes{1, 16, 4}));
    EXPECT_EQ(adjusted->children[0]->size, (Sizes{1000, 63, 250}));
}

TEST_F(Split, OuterTile) {
    const LoopNestPtr outer = split({64, 300}, TileIs::Outer, false);
    EXPECT_EQ(outer->size, (Sizes{1, 64, 300}));
    EXPECT_EQ(outer->children[0]->size, (Sizes{1000, 16, 4}));
    const LoopNestPtr adjusted = split({64, 300}, TileIs::Outer, true);
    EXPECT_EQ(adjusted->size, (Sizes{1, 63, 250}));
    EXPECT_EQ(adjusted->children[0]->size, (Sizes{1000, 16, 4}));
}

TEST_F(Split, ReductionsOutward) {
    const LoopNestPtr outer = split({64, 300}, TileIs::Inner, false, false);
    EXPECT_EQ(outer->size[0], 1000);
    EXPECT_EQ(outer->children[0]->size[0], 1);
}

TEST_F(Split, LabelsAndContents) {
    const LoopNestPtr outer = split({64, 300}, TileIs::Inner, false);
    const LoopNest &inner = *outer->children[0];
    EXPECT_EQ(outer->axis, GpuAxis::Parallelized);
    EXPECT_TRUE(outer->parallel);
    EXPECT_FALSE(outer->innermost);
    EXPECT_EQ(inner.axis, GpuAxis::Serial);
    EXPECT_FALSE(inner.parallel);
    EXPECT_EQ(inner.children, update_->children);
    EXPECT_EQ(inner.regions, update_->regions);
    EXPECT_EQ(outer->lane_loop, 1);
    EXPECT_EQ(outer->vector_dim, 0);

    const LoopNestPtr block = pipeline_.editor.split(*outer, {2, 2}, *root_, SplitOptions());
    EXPECT_EQ(block->axis, GpuAxis::Block);
    EXPECT_TRUE(block->parallel);
    EXPECT_EQ(block->children[0]->axis, GpuAxis::Thread);
    EXPECT_FALSE(block->children[0]->parallel);
    EXPECT_THROW(pipeline_.editor.split(*block, {2, 2}, *root_, SplitOptions()), InternalError);
}

TEST_F(Split, TilesAreFullAndInTheMiddle) {
    // 4 tiles of 300: the third one runs past the end of the domain.
    const LoopNestPtr outer = split({64, 300}, TileIs::Inner, false);
    const FuncRegion &own = outer->regions->own();
    EXPECT_EQ(own.loop(1, 0), (Span{0, 999, true, true})) << "the reduction is not split";
    EXPECT_EQ(own.loop(1, 1), (Span{512, 575, true, true}));
    EXPECT_EQ(own.loop(1, 2), (Span{600, 899, true, true}));
    EXPECT_EQ(own.loop(0, 1).extent(), 1000) << "other stages do not change";

    // Two levels: 8 x 2 blocks of 2 x 2 tiles.
    const LoopNestPtr block = pipeline_.editor.split(*outer, {2, 2}, *root_, SplitOptions());
    EXPECT_EQ(block->regions->own().loop(1, 1), (Span{512, 639, true, true}));
    EXPECT_EQ(block->regions->own().loop(1, 2), (Span{600, 1199, true, true}));
    EXPECT_EQ(block->children[0]->regions, outer->regions);
}

TEST(SplitFlags, PureTilesAreConstantWhateverTheParent) {
    const test::Pipeline p(test::harris_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    EXPECT_FALSE(p.store.root()->of(0).loop(0, 0).constant) << "estimates only";
    root = p.tile_at_root(root, 0, {1, 8}, {32, 4});
    EXPECT_EQ(root->children[0]->regions->own().loop(0, 0), (Span{768, 799, true, true}));
    EXPECT_EQ(root->children[0]->regions->own().loop(0, 1), (Span{1280, 1311, true, true}));
}

TEST(SplitFlags, ReductionsKeepTheirFlags) {
    PipelineGraph graph = test::mat_mul_graph();
    graph.funcs[1].stages[1].loops[0].constant_span.exact = false;
    const test::Pipeline p(std::move(graph));
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(p.place_at_root(root, 1), 1, {1, 4}, {64, 1});
    const FuncRegion &own = root->children[1]->regions->own();
    EXPECT_EQ(own.loop(1, 0), (Span{0, 1023, true, false}));
    EXPECT_TRUE(own.loop(1, 1).exact);
}

TEST(SplitFlags, ReductionsOfUnknownLengthStayUnknown) {
    PipelineGraph graph = test::mat_mul_graph();
    Span &reduction = graph.funcs[1].stages[1].loops[0].constant_span;
    reduction.constant = reduction.exact = false;
    const test::Pipeline p(std::move(graph));
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.tile_at_root(p.place_at_root(root, 1), 1, {1, 4}, {64, 1});
    const FuncRegion &own = root->children[1]->regions->own();
    EXPECT_EQ(own.loop(1, 0), (Span{0, 1023, false, false}));
    EXPECT_TRUE(own.loop(1, 1).constant);
}

TEST(Inline, CountsCallsThroughInlinedConsumers) {
    const test::Pipeline p(test::harris_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    for (const char *name : {"trace", "det", "Syy", "Iyy", "Sxy", "Ixy", "Sxx", "Ixx"}) {
        root = p.editor.inline_func(root, p.graph.find_func(name));
    }
    const LoopNest &leaf = *root->children[0]->children[0];
    const auto calls = [&](const char *name) {
        return leaf.num_inlined_calls(p.graph.find_func(name));
    };
    EXPECT_EQ(calls("trace"), 1);
    EXPECT_EQ(calls("det"), 1);
    EXPECT_EQ(calls("Syy"), 2);
    EXPECT_EQ(calls("Iyy"), 18);
    EXPECT_EQ(calls("Sxy"), 1);
    EXPECT_EQ(calls("Ixy"), 9);
    EXPECT_EQ(calls("Sxx"), 2);
    EXPECT_EQ(calls("Ixx"), 18);
    EXPECT_EQ(calls("Ix"), 0);
}

TEST(Inline, SharesWhatDoesNotCall) {
    test::GraphBuilder b;
    b.func("a", {"x"}).output({64}).reads("f", {test::at("x")});
    b.func("b", {"x"}).output({64});
    b.func("f", {"x"});
    const test::Pipeline p(b.build());
    const LoopNestPtr root = p.place_at_root(p.place_at_root(p.editor.make_root(), 0), 1);
    const LoopNestPtr inlined = p.editor.inline_func(root, 2);
    EXPECT_NE(inlined->children[0], root->children[0]);
    EXPECT_EQ(inlined->children[1], root->children[1]);
    EXPECT_EQ(p.editor.inline_func(root, 0), root) << "nothing calls a";
    EXPECT_EQ(root->children[0]->children[0]->inlined.size(), 0u) << "the argument is untouched";
}

TEST(WithAxis, SetsParallel) {
    const test::Pipeline p(test::stencil_graph());
    const LoopNestPtr nest = p.place_at_root(p.editor.make_root(), 0)->children[0];
    EXPECT_TRUE(p.editor.with_axis(*nest, GpuAxis::Block)->parallel);
    EXPECT_FALSE(p.editor.with_axis(*nest, GpuAxis::Serial)->parallel);
    EXPECT_EQ(p.editor.with_axis(*nest, GpuAxis::Serial)->children, nest->children);
}

}  // namespace
}  // namespace anderson2021
