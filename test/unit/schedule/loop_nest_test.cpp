#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/loop_nest.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

using Ints = std::vector<int>;
using Sizes = std::vector<int64_t>;

TEST(LoopNest, StoreSetsFollowFromChildren) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInBlock);
    const LoopNest &block = *root->children[0];
    EXPECT_EQ(root->store_set(), Ints{0});
    EXPECT_EQ(block.store_set(), Ints{1});
    EXPECT_EQ(block.children[0]->store_set(), Ints{});
    EXPECT_EQ(root->store_set_with_descendants(), (Ints{0, 1}));
    EXPECT_EQ(block.store_set_with_descendants(), Ints{1});

    const LoopNestPtr in_thread = p.tree(test::kMatMulInThread);
    EXPECT_EQ(in_thread->store_set(), Ints{0});
    EXPECT_EQ(in_thread->children[0]->store_set(), Ints{});
    EXPECT_EQ(in_thread->children[0]->store_set_with_descendants(), Ints{1});
}

TEST(LoopNest, ComputesAndCalls) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInBlock);
    const LoopNest &block = *root->children[0];
    EXPECT_TRUE(block.computes(0));
    EXPECT_TRUE(block.computes(1));
    EXPECT_FALSE(block.computes(2));
    EXPECT_TRUE(block.calls(3));
    EXPECT_TRUE(block.children[0]->calls(1));
    EXPECT_FALSE(block.children[0]->calls(3)) << "only prod reads A";
    EXPECT_FALSE(root->calls(0));
}

TEST(LoopNest, InlinedFuncsAreComputedAndTheirProducersCalled) {
    const test::Pipeline p(test::stencil_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    EXPECT_FALSE(root->computes(1));
    EXPECT_FALSE(root->calls(2));
    root = p.editor.inline_func(root, 1);
    EXPECT_TRUE(root->computes(1));
    EXPECT_TRUE(root->calls(2));
}

TEST(LoopNest, LoweredSizesStartWithTheLaneLoop) {
    const test::Pipeline p(test::mat_mul_graph());
    LoopNestData data = *p.tree(test::kMatMulInBlock)->children[0]->children[1];
    data.size = {3, 1, 5};
    data.lane_loop = 2;
    EXPECT_EQ(LoopNest::publish(p.graph, data)->lowered_sizes(), (Sizes{5, 3}));
    data.size = {3, 4, 1};
    EXPECT_EQ(LoopNest::publish(p.graph, data)->lowered_sizes(), (Sizes{3, 4}));
    data.lane_loop = -1;
    EXPECT_EQ(LoopNest::publish(p.graph, data)->lowered_sizes(), (Sizes{3, 4}));
    EXPECT_EQ(LoopNest::publish(p.graph, data)->iterations(), 12);
}

TEST(LoopNest, UnionOfThreadExtents) {
    const test::Pipeline p(test::mat_mul_graph());
    EXPECT_EQ(p.tree(test::kMatMulInBlock)->children[0]->union_thread_extents(), (Sizes{64, 1, 1}));
    // The threads of prod are found below a serial level, too, and extend the union.
    LoopNestData thread = *p.tree(test::kMatMulInBlock)->children[0]->children[1];
    thread.size = {2, 8, 4};
    thread.lane_loop = 1;
    LoopNestData serial = *p.tree(test::kMatMulInBlock)->children[0]->children[1];
    serial.axis = GpuAxis::Serial;
    serial.children = {LoopNest::publish(p.graph, thread)};
    LoopNestData block = *p.tree(test::kMatMulInBlock)->children[0];
    block.children.push_back(LoopNest::publish(p.graph, serial));
    EXPECT_EQ(LoopNest::publish(p.graph, block)->union_thread_extents(), (Sizes{64, 2, 4}));
}

TEST(LoopNest, EqualTreesHaveEqualHashes) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr a = p.tree(test::kMatMulInBlock);
    const LoopNestPtr b = p.tree(test::kMatMulInBlock);
    EXPECT_NE(a->id(), b->id());
    EXPECT_EQ(a->structural_hash(), b->structural_hash());
    EXPECT_TRUE(a->same_structure(*b));
    const LoopNestPtr c = p.tree(test::kMatMulInThread);
    EXPECT_NE(a->structural_hash(), c->structural_hash());
    EXPECT_FALSE(a->same_structure(*c));
}

TEST(LoopNest, EveryFieldCounts) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInBlock);
    const LoopNest &nest = *root->children[0];
    const auto differs = [&](const LoopNestData &data) {
        const LoopNestPtr other = LoopNest::publish(p.graph, data);
        return !nest.same_structure(*other) && nest.structural_hash() != other->structural_hash();
    };
    LoopNestData data = nest;
    EXPECT_FALSE(differs(data));
    data.size[1]++;
    EXPECT_TRUE(differs(data));
    data = nest;
    data.vector_dim = 1;
    EXPECT_TRUE(differs(data));
    data = nest;
    data.axis = GpuAxis::Serial;
    EXPECT_TRUE(differs(data));
    data = nest;
    data.inlined = {{3, 1}};
    EXPECT_TRUE(differs(data));
    data = nest;
    data.children.pop_back();
    EXPECT_TRUE(differs(data));
}

TEST(LoopNest, OrderOfInliningDoesNotCount) {
    const test::Pipeline p(test::harris_graph());
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const LoopNestPtr a = p.editor.inline_func(p.editor.inline_func(root, 1), 2);
    const LoopNestPtr b = p.editor.inline_func(p.editor.inline_func(root, 2), 1);
    EXPECT_EQ(a->structural_hash(), b->structural_hash());
    EXPECT_TRUE(a->same_structure(*b));
}

TEST(LoopNest, AxisNames) {
    EXPECT_STREQ(gpu_axis_name(GpuAxis::None), "none");
    EXPECT_STREQ(gpu_axis_name(GpuAxis::Parallelized), "parallelized");
    EXPECT_STREQ(gpu_axis_name(GpuAxis::Block), "block");
    EXPECT_STREQ(gpu_axis_name(GpuAxis::Thread), "thread");
    EXPECT_STREQ(gpu_axis_name(GpuAxis::Serial), "serial");
    EXPECT_STREQ(gpu_axis_name(GpuAxis::Simd), "simd");
}

}  // namespace
}  // namespace anderson2021
