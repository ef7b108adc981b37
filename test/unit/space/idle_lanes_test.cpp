#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "space/idle_lanes.h"

namespace anderson2021 {
namespace {

using test::Pipeline;

TEST(IdleLanes, NoneWithoutThreads) {
    const Pipeline p(test::mat_mul_graph(1024));
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    EXPECT_EQ(worst_idle_lane_waste(*root, GpuDevice()), 0);
}

TEST(IdleLanes, OfTheLastWarpByTheLimitOfABlock) {
    const Pipeline p(test::mat_mul_graph(1024));
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const auto waste = [&](const std::vector<int64_t> &threads) {
        return worst_idle_lane_waste(*p.tile_at_root(root, 0, {1, 1}, threads), GpuDevice());
    };
    EXPECT_EQ(waste({32, 4}), 0);
    EXPECT_EQ(waste({24, 1}), 8.0 / 1024);
    EXPECT_EQ(waste({1, 1}), 31.0 / 1024);
}

// prod has 4 threads in a block of 64 x 16: each of the 16 warps that has them runs for 1 or more.
TEST(IdleLanes, CountsEveryFuncWithinTheUnionOfItsBlock) {
    const Pipeline p(test::mat_mul_graph(1024));
    const LoopNestPtr root = p.tree("out 16 64 (0, 0) gpu_block\n"
                                    " prod 1 16 (0, 0) gpu_thread\n"
                                    "  prod 64 1 (0, 0) gpu_serial\n"
                                    "   prod 1 1 (0, 0) * gpu_simd\n"
                                    " prod 1 1 16 (1, 0) gpu_thread\n"
                                    "  prod 1024 64 1 (1, 0) gpu_serial\n"
                                    "   prod 1 1 1 (1, 0) * gpu_simd\n"
                                    " out 64 16 (0, 0) gpu_thread\n"
                                    "  out 1 1 (0, 0) gpu_serial\n"
                                    "   out 1 1 (0, 0) * gpu_simd\n");
    // The 16 threads of prod are x threads 0 to 15 of one warp: half of its lanes.
    EXPECT_EQ(worst_idle_lane_waste(*root, GpuDevice()), 16.0 / 1024);
}

}  // namespace
}  // namespace anderson2021
