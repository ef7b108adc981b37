// The rule that keeps Funcs of unknown size out of places where they may not fit.
#include <gtest/gtest.h>

#include "schedule/unknown_sizes.h"
#include "tree_maker.h"

namespace anderson2021 {
namespace {

using test::at;
using test::GraphBuilder;
using test::structural_rule;
using test::TreeMaker;

/// out(x) reads f at distances 0 to 3; the distance may be a parameter, of which that is the
/// estimate.
TreeMaker chain(bool by_parameter) {
    GraphBuilder b;
    b.func("out", {"x"}).output({16384}).reads("f", {at("x", 0, 3)}, 4);
    b.func("f", {"x"});
    PipelineGraph graph = b.build();
    graph.edges[0].bounds[0].max.exact = !by_parameter;
    return TreeMaker(std::move(graph));
}

std::optional<Rejection>
judge(const TreeMaker &maker, const LoopNestPtr &task, bool may_move = false) {
    PruneContext context{maker.graph(), GpuDevice()};
    if (!may_move) {
        context.following_outputs =
            std::make_shared<BitSet>(find_funcs_following_outputs(maker.graph()));
    }
    return structural_rule("unknown-sizes").reject(*maker.root_of({task}), context);
}

LoopNestPtr in_block(const TreeMaker &maker, int64_t tile) {
    return maker.with_placed(maker.tiled("out", {tile / 16}, {16}), "f", false);
}

LoopNestPtr in_thread(const TreeMaker &maker) {
    const LoopNestPtr block = maker.tiled("out", {32}, {4});
    return maker.with_thread_level(block, maker.with_placed(block->children.front(), "f", true));
}

TEST(UnknownSizes, InAThread) {
    const TreeMaker known = chain(false), unknown = chain(true);
    EXPECT_FALSE(judge(known, in_thread(known)));
    const auto rejection = judge(unknown, in_thread(unknown));
    ASSERT_TRUE(rejection);
    EXPECT_STREQ(rejection->rule, "unknown-sizes");
    EXPECT_EQ(rejection->value, 4 * (4 + 3));
    EXPECT_EQ(rejection->limit, 0);
}

// An array that may become four times as large.
TEST(UnknownSizes, InABlock) {
    const TreeMaker known = chain(false), unknown = chain(true);
    EXPECT_FALSE(judge(known, in_block(known, 4096)));
    EXPECT_FALSE(judge(unknown, in_block(unknown, 2048)));
    const auto rejection = judge(unknown, in_block(unknown, 4096));
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 4 * 4 * (4096 + 3));
    EXPECT_EQ(rejection->limit, 48 * 1024);
}

// What a block needs of f depends on where it is.
TEST(UnknownSizes, BlocksElsewhere) {
    GraphBuilder b;
    b.func("out", {"x"}).output({1 << 20}).reads("f", {test::divided("x", 2)});
    b.func("f", {"x"});
    const TreeMaker maker(b.build());
    const auto task = [&](int64_t tile) {
        return maker.with_placed(maker.tiled("out", {tile / 16}, {16}), "f", false);
    };
    EXPECT_EQ(largest_shared_bytes(*task(16384), maker.graph()), 4 * (8192 + 1));
    EXPECT_FALSE(judge(maker, task(16384)));
    const auto rejection = judge(maker, task(2 * 12288));
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 4 * (12288 + 1));
    EXPECT_EQ(rejection->limit, 4 * 12288);
}

TEST(UnknownSizes, EveryTaskOnItsOwn) {
    const TreeMaker unknown = chain(true);
    PruneContext context{unknown.graph(), GpuDevice()};
    context.following_outputs =
        std::make_shared<BitSet>(find_funcs_following_outputs(unknown.graph()));
    const StructuralPruner &rule = structural_rule("unknown-sizes");
    EXPECT_FALSE(
        rule.reject(*unknown.root_of({in_block(unknown, 2048), in_block(unknown, 2048)}), context));
    EXPECT_TRUE(
        rule.reject(*unknown.root_of({in_block(unknown, 2048), in_thread(unknown)}), context));
}

// 25 points of g around every point of f, which is computed at half the resolution of out.
TEST(UnrolledCode, ReadsInLoopsOfUnknownLength) {
    const auto judge_points = [](bool halved, int64_t points, bool others) {
        GraphBuilder b;
        const test::Coord x = halved ? test::divided("x", 2) : at("x");
        const test::Coord y = halved ? test::divided("y", 2) : at("y");
        b.func("out", {"x", "y"}).output({1024, 1024}).reads("f", {x, y});
        b.func("f", {"x", "y"}).reads("g", {at("x", -2, 2), at("y", -2, 2)}, 25);
        b.func("g", {"x", "y"});
        const TreeMaker maker(b.build());
        const LoopNestPtr block = maker.tiled("out", {32, 4}, {2, 8});
        std::vector<LoopNestPtr> children = block->children;
        for (const LoopNestPtr &nest : maker.editor().place(maker.func("f"), 0, *block, false)) {
            children.push_back(
                maker.editor().split(*nest, {1, points}, *block, {TileIs::Inner, false, true}));
        }
        PruneContext context{maker.graph(), GpuDevice()};
        if (!others) {
            context.following_outputs =
                std::make_shared<BitSet>(find_funcs_following_outputs(maker.graph()));
        }
        const LoopNestPtr task = maker.editor().with_children(*block, children);
        return structural_rule("unrolled-code").reject(*maker.root_of({task}), context);
    };
    EXPECT_FALSE(judge_points(true, 6, false));
    const auto rejection = judge_points(true, 8, false);
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 8 * 25);
    EXPECT_FALSE(judge_points(false, 8, false));
    EXPECT_FALSE(judge_points(true, 8, true));
}

TEST(UnknownSizes, SchedulesOfOthersAreNotJudged) {
    const TreeMaker unknown = chain(true);
    EXPECT_FALSE(judge(unknown, in_thread(unknown), true));
}

}  // namespace
}  // namespace anderson2021
