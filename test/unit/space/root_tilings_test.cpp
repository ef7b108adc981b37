#include <gtest/gtest.h>
#include <set>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "space/root_tilings.h"

namespace anderson2021 {
namespace {

using test::Pipeline;

std::vector<RootTiling> tilings_of(const Pipeline &p, int func, int parallelism, int dim = 0) {
    const LoopNestPtr root = p.editor.make_root();
    return root_tilings(p.graph, p.editor.place(func, dim, *root, false), parallelism, GpuDevice());
}

TEST(RootTilings, GroupsFollowTheSerialLoops) {
    const Pipeline p(test::mat_mul_graph(2048));
    const std::vector<RootTiling> tilings = tilings_of(p, 0, 80);
    ASSERT_FALSE(tilings.empty());
    EXPECT_EQ(tilings.front().outer, (Extents{2048, 2048}));
    EXPECT_EQ(tilings.front().serial_points, 1);
    std::set<Extents> outers;
    int group = 0;
    double waste = 0;
    for (const RootTiling &t : tilings) {
        ASSERT_TRUE(t.serial_group == group || t.serial_group > group);
        if (t.serial_group != group) {
            group = t.serial_group;
            waste = 0;
        }
        EXPECT_GE(t.idle_core_waste, std::max(waste, 1.0));
        waste = t.idle_core_waste;
        outers.insert(t.outer);
        EXPECT_EQ(t.serial_points, (2048 / t.outer[0]) * (2048 / t.outer[1]));
        EXPECT_LE(t.threads[0] * t.threads[1], 1024);
    }
    EXPECT_EQ(outers.size(), 16u);
}

// 96 = 3 warps: the lane dimension may be divided by 3 as well.
TEST(RootTilings, OddFactorsWhereTheyLeaveWholeWarps) {
    test::GraphBuilder b;
    b.func("f", {"x", "y"}).output({96, 64}).reads("g", {test::at("y"), test::at("x")});
    b.func("g", {"x", "y"});
    const Pipeline p(b.build());
    const auto outer_lanes = [&](int dim) {
        std::set<int64_t> lanes;
        for (const RootTiling &t : tilings_of(p, 1, 1, dim)) {
            lanes.insert(t.outer[static_cast<size_t>(dim)]);
        }
        return lanes;
    };
    EXPECT_EQ(outer_lanes(0), (std::set<int64_t>{8, 16, 32, 64}));
    EXPECT_EQ(outer_lanes(1), (std::set<int64_t>{12, 24, 32, 48, 96}));
}

TEST(BuildRootTiling, GivesBlockThreadSerialSimd) {
    const Pipeline p(test::mat_mul_graph(1024));
    const LoopNestPtr root = p.editor.make_root();
    const std::vector<LoopNestPtr> nests = p.editor.place(1, 0, *root, false);
    RootTiling tiling;
    tiling.outer = {1024, 256};
    tiling.threads = {32, 2};
    const std::vector<LoopNestPtr> tiled = build_root_tiling(p.editor, nests, *root, tiling);
    ASSERT_EQ(tiled.size(), 2u);
    // The update comes first; its reduction stays in the thread.
    const LoopNest *nest = tiled[0].get();
    EXPECT_EQ(nest->axis, GpuAxis::Block);
    EXPECT_EQ(nest->size, (Extents{1, 32, 128}));
    nest = nest->children[0].get();
    EXPECT_EQ(nest->axis, GpuAxis::Thread);
    EXPECT_EQ(nest->size, (Extents{1, 32, 2}));
    nest = nest->children[0].get();
    EXPECT_EQ(nest->axis, GpuAxis::Serial);
    EXPECT_EQ(nest->size, (Extents{1024, 1, 4}));
    EXPECT_TRUE(nest->children[0]->innermost);
    EXPECT_EQ(tiled[1]->size, (Extents{32, 128}));
}

// 1530 columns in serial runs of 8 are 192 runs; nothing is left over after the last block.
TEST(BuildRootTiling, RoundsUp) {
    test::GraphBuilder b;
    b.func("f", {"x", "y"}).output({1530, 10}).pointwise();
    const Pipeline p(b.build());
    const LoopNestPtr root = p.editor.make_root();
    RootTiling tiling;
    tiling.outer = {192, 10};
    tiling.threads = {64, 1};
    const LoopNestPtr block =
        build_root_tiling(p.editor, p.editor.place(0, 0, *root, false), *root, tiling)[0];
    EXPECT_EQ(block->size, (Extents{3, 10}));
    EXPECT_EQ(block->children[0]->children[0]->size, (Extents{8, 1}));
}

}  // namespace
}  // namespace anderson2021
