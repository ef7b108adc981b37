// Worked layouts, and random ones against a count thread by thread.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "device/warp_layout.h"

namespace anderson2021 {
namespace {

using Sizes = std::vector<int64_t>;

const GpuDevice kV100;

WarpLayout layout_of(const Sizes &size, int lane_loop, const Sizes &union_extents) {
    return make_warp_layout(size, lane_loop, union_extents, kV100);
}

TEST(WarpLayout, WholeGridActive) {
    const WarpLayout l = layout_of({16, 8}, 0, {16, 8, 1});
    EXPECT_EQ(l.num_threads, 128);
    EXPECT_EQ(l.num_active_threads, 128);
    EXPECT_EQ(l.warps_per_block, 4);
    EXPECT_EQ(l.num_regular_warps, 4);
    EXPECT_FALSE(l.has_tail_warp);
    EXPECT_EQ(l.lane_utilization(kV100), 1);
    EXPECT_EQ(l.idle_lane_waste(kV100), 0);
    EXPECT_EQ(l.loops, (std::vector<int>{0, 1}));
    EXPECT_EQ(l.first_warp_lanes, 0xffffffffu);
}

TEST(WarpLayout, HalfOfEachRowIdle) {
    const WarpLayout l = layout_of({8, 8}, 0, {16, 8, 1});
    EXPECT_EQ(l.num_threads, 64);
    EXPECT_EQ(l.num_active_warps, 4);
    EXPECT_EQ(l.lane_utilization(kV100), 0.5);
    EXPECT_EQ(l.idle_lane_waste(kV100), 64 / 1024.0);
    // Two rows of 16 in a warp, 8 active in each.
    EXPECT_EQ(l.first_warp_lanes, 0x00ff00ffu);
}

TEST(WarpLayout, IdleLastWarpIsNoTailWarp) {
    const WarpLayout l = layout_of({11, 11, 2}, 0, {16, 16, 2});
    EXPECT_EQ(l.num_threads, 242);
    EXPECT_EQ(l.num_active_threads, 242);
    EXPECT_EQ(l.warps_per_block, 16);
    EXPECT_EQ(l.num_active_warps, 12);
    EXPECT_EQ(l.num_regular_warps, 12);
    EXPECT_FALSE(l.has_tail_warp);
    EXPECT_DOUBLE_EQ(l.lane_utilization(kV100), 242.0 / 384);
}

TEST(WarpLayout, TailWarps) {
    const WarpLayout a = layout_of({24, 5}, 0, {24, 5, 1});
    EXPECT_EQ(a.num_threads, 120);
    EXPECT_EQ(a.num_active_warps, 4);
    EXPECT_TRUE(a.has_tail_warp);
    EXPECT_EQ(a.tail_length, 24);
    EXPECT_EQ(a.num_regular_warps, 3);
    EXPECT_EQ(a.lane_utilization(kV100), 0.9375);

    const WarpLayout b = layout_of({24, 2}, 0, {24, 2, 1});
    EXPECT_EQ(b.num_active_warps, 2);
    EXPECT_TRUE(b.has_tail_warp);
    EXPECT_EQ(b.tail_length, 16);
    EXPECT_EQ(b.num_regular_warps, 1);
    EXPECT_EQ(b.lane_utilization(kV100), 0.75);
    EXPECT_EQ(b.last_warp_lanes, 0xffffu);
    EXPECT_EQ(b.first_thread_of_last_warp(kV100), 32);
}

TEST(WarpLayout, LaneLoopComesFirstUnlessItHasOneIteration) {
    EXPECT_EQ(layout_of({4, 8, 2}, 1, {8, 4, 2}).loops, (std::vector<int>{1, 0, 2}));
    const WarpLayout l = layout_of({32, 1}, 1, {32, 1, 1});
    EXPECT_EQ(l.loops, (std::vector<int>{0}));
    EXPECT_EQ(l.extent[0], 32);
}

TEST(WarpLayout, StopsAtThreeDimensionsAndAtTheThreadLimit) {
    const WarpLayout three = layout_of({2, 2, 2, 2}, 0, {2, 2, 2, 2});
    EXPECT_EQ(three.loops, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(three.num_threads, 8);
    EXPECT_EQ(three.warps_per_block, 1);

    // The second extent does not fit, and nothing after it is taken.
    const WarpLayout limit = layout_of({64, 32, 2}, 0, {64, 32, 2});
    EXPECT_EQ(limit.loops, (std::vector<int>{0}));
    EXPECT_EQ(limit.num_threads, 64);
    EXPECT_EQ(limit.warps_per_block, 2);
}

TEST(WarpLayout, WithoutThreadLoops) {
    const WarpLayout ones = layout_of({1, 1}, 1, {32, 4, 1});
    EXPECT_EQ(ones.loops, (std::vector<int>{0}));
    EXPECT_EQ(ones.num_threads, 1);
    EXPECT_EQ(ones.num_active_threads, 1);
    EXPECT_EQ(ones.num_active_warps, 1);
    EXPECT_FALSE(ones.has_tail_warp);
    EXPECT_EQ(ones.warps_per_block, 4);
    EXPECT_EQ(ones.first_warp_lanes, 1u);

    const WarpLayout scalar = layout_of({}, -1, {1, 1, 1});
    EXPECT_TRUE(scalar.loops.empty());
    EXPECT_EQ(scalar.num_threads, 1);
    EXPECT_EQ(scalar.num_regular_warps, 1);
    EXPECT_EQ(scalar.tail_length, 1);
    EXPECT_FALSE(scalar.has_tail_warp);
}

TEST(WarpLayout, GridSkipsOnesInTheUnion) {
    const WarpLayout l = layout_of({16, 1, 4}, 0, {16, 1, 4});
    EXPECT_EQ(l.grid[0], 16);
    EXPECT_EQ(l.grid[1], 4);
    EXPECT_EQ(l.grid[2], 1);
    EXPECT_EQ(l.extent[1], 4);
    EXPECT_EQ(l.num_active_threads, 64);
}

/// Counts everything thread by thread and compares.
void check_by_enumeration(const WarpLayout &l) {
    const int64_t grid_threads = l.grid[0] * l.grid[1] * l.grid[2];
    int64_t active = 0;
    std::set<int64_t> warps;
    int64_t in_first = 0, in_last = 0;
    const int64_t last_warp = (grid_threads - 1) / 32;
    int64_t id = 0;
    for (int64_t z = 0; z < l.grid[2]; z++) {
        for (int64_t y = 0; y < l.grid[1]; y++) {
            for (int64_t x = 0; x < l.grid[0]; x++, id++) {
                const bool on = x < l.extent[0] && y < l.extent[1] && z < l.extent[2];
                ASSERT_EQ(l.is_active(id), on);
                if (on) {
                    active++;
                    warps.insert(id / 32);
                    in_first += id / 32 == 0;
                    in_last += id / 32 == last_warp;
                }
                if (id < 32) {
                    ASSERT_EQ((l.first_warp_lanes >> id & 1) != 0, on);
                }
                if (id / 32 == last_warp) {
                    ASSERT_EQ((l.last_warp_lanes >> (id % 32) & 1) != 0, on);
                }
            }
        }
    }
    const bool tail = in_last > 0 && in_last != in_first;
    ASSERT_EQ(l.num_active_threads, active);
    ASSERT_EQ(l.num_active_warps, static_cast<int64_t>(warps.size()));
    ASSERT_EQ(l.warps_per_block, last_warp + 1);
    ASSERT_EQ(l.has_tail_warp, tail);
    ASSERT_EQ(l.num_regular_warps, static_cast<int64_t>(warps.size()) - tail);
    ASSERT_EQ(l.tail_length, grid_threads - 32 * last_warp);
}

TEST(WarpLayout, RandomLayoutsByEnumeration) {
    std::mt19937 random(1);
    const auto extent = [&](int64_t limit) {
        return static_cast<int64_t>(random() % static_cast<uint32_t>(limit)) + 1;
    };
    for (int i = 0; i < 2000; i++) {
        const Sizes own = {extent(40), extent(9), extent(4)};
        Sizes grid = {extent(40), extent(9), extent(4)};
        if (i % 4 != 0) {
            for (size_t k = 0; k < 3; k++) {
                grid[k] = std::max(grid[k], own[k]);
            }
        }
        const WarpLayout l = layout_of(own, static_cast<int>(random() % 4) - 1, grid);
        ASSERT_NO_FATAL_FAILURE(check_by_enumeration(l)) << "layout " << i;
    }
}

}  // namespace
}  // namespace anderson2021
