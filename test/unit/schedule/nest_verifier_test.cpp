#include <functional>
#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/nest_verifier.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

class Verify : public ::testing::Test {
protected:
    using Change = std::function<void(LoopNestData &)>;

    /// Copy of the tree in which the first nest of `stage` with label `axis` was changed.
    LoopNestPtr
    changed(const LoopNestPtr &nest, int stage, GpuAxis axis, const Change &change) const {
        LoopNestData data = *nest;
        if (nest->stage_id == stage && nest->axis == axis) {
            change(data);
            return LoopNest::publish(p_.graph, std::move(data));
        }
        for (LoopNestPtr &c : data.children) {
            if (test::find_nest(*c, stage, axis) != nullptr) {
                c = changed(c, stage, axis, change);
                break;
            }
        }
        return LoopNest::publish(p_.graph, std::move(data));
    }
    std::string error(const LoopNestPtr &root) const {
        return verify_schedule(*root, p_.graph, device_).value_or("");
    }
    std::string error(int stage, GpuAxis axis, const Change &change) const {
        return error(changed(good_, stage, axis, change));
    }

    GpuDevice device_;
    const test::Pipeline p_{test::mat_mul_graph()};
    const LoopNestPtr good_ = p_.tree(test::kMatMulInBlock);
};

TEST_F(Verify, GoodTrees) {
    EXPECT_EQ(error(p_.editor.make_root()), "");
    EXPECT_EQ(error(p_.place_at_root(p_.editor.make_root(), 0)), "");
    for (const char *text : {test::kMatMulAtRoot, test::kMatMulInBlock, test::kMatMulInThread}) {
        EXPECT_EQ(error(p_.tree(text)), "");
    }
    const test::Pipeline harris(test::harris_graph());
    EXPECT_EQ(verify_schedule(*harris.tree(test::kHarrisFused), harris.graph, device_),
              std::nullopt);
    const test::Pipeline scalar(test::scalar_reduction_graph());
    LoopNestPtr root = scalar.place_at_root(scalar.editor.make_root(), 0);
    root = scalar.place_at_root(root, 1);
    EXPECT_EQ(verify_schedule(*root, scalar.graph, device_), std::nullopt);
    const test::Pipeline hist(test::histogram_graph());
    root = hist.place_at_root(hist.place_at_root(hist.editor.make_root(), 0), 1);
    root = hist.tile_at_root(hist.tile_at_root(root, 0, {1}, {32}), 1, {1}, {64});
    EXPECT_EQ(verify_schedule(*root, hist.graph, device_), std::nullopt);
}

TEST_F(Verify, Identity) {
    EXPECT_EQ(error(0, GpuAxis::Simd, [](LoopNestData &n) { n.size.pop_back(); }),
              "Not one size per loop at the simd level of out");
    EXPECT_EQ(error(2, GpuAxis::Serial, [](LoopNestData &n) { n.lane_loop = 0; }),
              "The lane loop is not the loop over the vector dimension at the serial level of "
              "prod.update(0)");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.vector_dim = 2; }),
              "No such vector dimension at the block level of out");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.stage_index = 1; }),
              "A nest of an unknown stage");
}

TEST_F(Verify, Labels) {
    EXPECT_EQ(error(1, GpuAxis::Serial, [](LoopNestData &n) { n.axis = GpuAxis::Thread; }),
              "the thread level of prod cannot be in the thread level of prod");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.axis = GpuAxis::Serial; }),
              "the serial level of out cannot be in the root");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.parallel = false; }),
              "the block level of out is wrongly marked as parallel or not");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.axis = GpuAxis::Parallelized; }),
              "the parallelized level of out cannot be in the root");
}

TEST_F(Verify, Sizes) {
    EXPECT_EQ(error(0, GpuAxis::Simd, [](LoopNestData &n) { n.size[0] = 2; }),
              "Size 2 of x at the simd level of out");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.size[1] = 128; }),
              "The levels of out run loop y 512 times instead of 1024");
    EXPECT_EQ(error(2, GpuAxis::Serial, [](LoopNestData &n) { n.size[0] = 2048; }),
              "The levels of prod.update(0) run loop r 2048 times instead of 1024");
    EXPECT_EQ(error(2, GpuAxis::Thread, [](LoopNestData &n) { n.size[0] = 2; }),
              "Loop r must run in order, but is spread over the thread level of prod.update(0)");
}

TEST_F(Verify, ThreadLimits) {
    device_.max_threads_per_block = 63;
    EXPECT_EQ(error(good_), "64 threads in 1 dimensions in the block level of out");
    device_.max_threads_per_block = 1024;
    device_.max_thread_extent[0] = 32;
    EXPECT_EQ(error(good_), "Thread extent 64 in the block level of out");
}

TEST_F(Verify, Order) {
    EXPECT_EQ(
        error(0, GpuAxis::Block, [](LoopNestData &n) { std::swap(n.children[0], n.children[2]); }),
        "The own next level does not come first in the block level of out");
    EXPECT_EQ(
        error(0, GpuAxis::Block, [](LoopNestData &n) { std::swap(n.children[1], n.children[2]); }),
        "The stages of prod do not stand together, last one first, in the block level of "
        "out");
    EXPECT_EQ(error(0, GpuAxis::Block, [](LoopNestData &n) { n.children.pop_back(); }),
              "The stages of prod do not stand together, last one first, in the block level of "
              "out");
    EXPECT_EQ(error(0, GpuAxis::Serial, [](LoopNestData &n) { n.children.clear(); }),
              "the serial level of out has no leaf of its own, or is one and has children");
    const LoopNestPtr at_root = p_.tree(test::kMatMulAtRoot);
    EXPECT_EQ(error(p_.editor.with_children(
                  *at_root, {at_root->children[1], at_root->children[2], at_root->children[0]})),
              "Func prod stands before its consumer out in the root");
}

TEST_F(Verify, Placement) {
    const LoopNestPtr at_root = p_.tree(test::kMatMulAtRoot);
    EXPECT_EQ(
        error(p_.editor.with_children(*at_root, {at_root->children[1], at_root->children[2]})),
        "Func prod is placed, but its consumer out is not");
    std::vector<LoopNestPtr> twice = good_->children;
    twice.push_back(at_root->children[1]);
    twice.push_back(at_root->children[2]);
    EXPECT_EQ(error(p_.editor.with_children(*good_, twice)),
              "Func prod is placed or inlined in several ways");
    EXPECT_EQ(error(p_.editor.with_children(*good_, {good_->children[0], good_->children[0]})),
              "A nest occurs twice in the tree");
}

TEST_F(Verify, InputsAreNotPlaced) {
    const LoopNestPtr root = p_.place_at_root(p_.tree(test::kMatMulAtRoot), 3);
    EXPECT_EQ(error(root), "Func A_im must not be placed in the root");
}

TEST_F(Verify, Inlining) {
    EXPECT_EQ(error(0,
                    GpuAxis::Simd,
                    [](LoopNestData &n) {
                        n.inlined = {{1, 1}};
                    }),
              "Func prod must not be inlined, but is in the simd level of out");
    EXPECT_EQ(error(0,
                    GpuAxis::Block,
                    [](LoopNestData &n) {
                        n.inlined = {{1, 1}};
                    }),
              "Only leaves can have inlined Funcs, not the block level of out");
}

TEST(VerifyInlining, CallsAndCompleteness) {
    const GpuDevice device;
    const test::Pipeline p(test::harris_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.place_at_root(p.place_at_root(root, 1), 2);
    const int syy = p.graph.find_func("Syy");
    LoopNestPtr good = p.editor.inline_func(root, syy);
    EXPECT_EQ(verify_schedule(*good, p.graph, device), std::nullopt);
    const LoopNestPtr half =
        p.editor.with_children(*good, {good->children[0], good->children[1], root->children[2]});
    EXPECT_EQ(verify_schedule(*half, p.graph, device),
              "Func Syy is inlined, but not in the simd level of det");
    LoopNestData leaf = *good->children[2]->children[0];
    leaf.inlined = {{syy, 2}};
    const LoopNestPtr det =
        p.editor.with_children(*good->children[2], {LoopNest::publish(p.graph, leaf)});
    EXPECT_EQ(
        verify_schedule(*p.editor.with_children(*good, {good->children[0], good->children[1], det}),
                        p.graph,
                        device),
        "Func Syy is called 1 times, not 2, in the simd level of det");
}

TEST(VerifyPlacement, SiteMustEncloseConsumers) {
    // Syy in the block of det, although trace reads it as well.
    const GpuDevice device;
    const test::Pipeline p(test::harris_graph());
    LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    root = p.place_at_root(p.place_at_root(root, 1), 2);
    root = p.tile_at_root(root, 2, {1, 1}, {32, 4});
    const LoopNest &block = *root->children[2];
    std::vector<LoopNestPtr> children = block.children;
    for (const LoopNestPtr &n : p.editor.place(3, 0, block, /*in_thread=*/true)) {
        children.push_back(n);
    }
    const LoopNestPtr bad = p.editor.with_children(
        *root, {root->children[0], root->children[1], p.editor.with_children(block, children)});
    EXPECT_EQ(verify_schedule(*bad, p.graph, device),
              "Func Syy is computed in the block level of det, which does not enclose its consumer "
              "trace");
}

}  // namespace
}  // namespace anderson2021
