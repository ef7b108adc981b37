#include <gtest/gtest.h>

#include "support/error.h"
#include "tiling/thread_tilings.h"

namespace anderson2021 {
namespace {

using Tiling = Extents;
using Tilings = std::vector<Tiling>;

const GpuDevice kV100;

/// A pure stage whose loops are in the order of its dimensions.
StageExtents pure_stage(Extents size, int lane_loop = 0) {
    StageExtents s;
    for (size_t i = 0; i < size.size(); i++) {
        s.pure_dim.push_back(static_cast<int>(i));
    }
    s.size = std::move(size);
    s.lane_loop = lane_loop;
    return s;
}

ThreadTilingOptions serial_inner() {
    ThreadTilingOptions o;
    o.serial_inner = true;
    return o;
}

ThreadTilingOptions root_stage() {
    ThreadTilingOptions o;
    o.root_stage = true;
    return o;
}

Tilings tilings(const StageExtents &stage, const Tiling &others, const ThreadTilingOptions &o) {
    return thread_tilings({stage}, others, o, kV100);
}

Tilings single_dim(const Extents &values) {
    Tilings result;
    for (const int64_t v : values) {
        result.push_back({v});
    }
    return result;
}

TEST(ThreadTilings, ThreeDimensionsBesideOtherThreads) {
    Tilings expected;
    // One thread along z leaves 32 serial points, 32 itself is not tried.
    for (const int64_t z : {2, 4, 8, 16}) {
        expected.push_back({16, 1, z});
    }
    for (const int64_t y : {2, 4, 8, 16}) {
        expected.push_back({16, y, 2});
        expected.push_back({16, y, 4});
    }
    EXPECT_EQ(tilings(pure_stage({16, 16, 32}), {16, 16, 2}, serial_inner()), expected);
}

TEST(ThreadTilings, LaneDimensionStartsAtHalfAWarp) {
    EXPECT_EQ(tilings(pure_stage({128}), {1}, {}), single_dim({16, 32, 64}));
    EXPECT_EQ(tilings(pure_stage({128}), {1}, root_stage()), single_dim({1, 2, 4, 8, 16, 32, 64}));
    // Narrower than that: the full extent.
    EXPECT_EQ(tilings(pure_stage({10}), {1}, {}), single_dim({10}));
    EXPECT_EQ(tilings(pure_stage({40}), {1}, {}), single_dim({16, 32, 40}));
    EXPECT_EQ(tilings(pure_stage({63}), {1}, {}), single_dim({16, 32, 63}));
    EXPECT_EQ(tilings(pure_stage({64}), {1}, {}), single_dim({16, 32, 64}));
    EXPECT_EQ(tilings(pure_stage({65}), {1}, {}), single_dim({16, 32, 64}));
}

TEST(ThreadTilings, UpdateStagesCountTheThreadsOfThePureStage) {
    StageExtents update;
    update.size = {10, 34, 16};
    update.pure_dim = {-1, 0, 1};
    update.lane_loop = 1;
    Tilings expected;
    for (const int64_t x : {16, 32, 34}) {
        for (const int64_t y : {1, 2, 4, 8, 16}) {
            expected.push_back({x, y});
        }
    }
    EXPECT_EQ(thread_tilings({pure_stage({34, 16}), update}, {16, 4, 1}, serial_inner(), kV100),
              expected);
}

TEST(ThreadTilings, WasteEndsTheListButTheFullExtentIsTried) {
    Tilings expected;
    for (const int64_t x : {16, 24}) {
        for (const int64_t y : {1, 2, 9}) {
            for (const int64_t z : {1, 2, 4, 8, 16}) {
                if (x * y * z <= 1024) {
                    expected.push_back({x, y, z});
                }
            }
        }
    }
    // 16 * 9 * 8 = 1152 is too many: with nine rows there are three depths each.
    EXPECT_EQ(expected.size(), 26u);
    EXPECT_EQ(tilings(pure_stage({24, 9, 100}), {1, 1, 1}, root_stage()), expected);
}

TEST(ThreadTilings, OtherDimensionOfExactly32IsNotTakenWhole) {
    // Lane dimension 1; the other one has extent 32 or its neighbours.
    const auto others = [](int64_t extent) {
        Tiling result;
        for (const Tiling &t : tilings(pure_stage({extent, 16}, 1), {1}, {})) {
            result.push_back(t[0]);
        }
        return result;
    };
    EXPECT_EQ(others(32), (Tiling{1, 2, 4, 8, 16}));
    EXPECT_EQ(others(33), (Tiling{1, 2, 4, 33}));
    EXPECT_EQ(others(24), (Tiling{1, 2, 4, 8, 24}));
    EXPECT_EQ(others(63), (Tiling{1, 2, 4, 8, 16, 63}));
    EXPECT_EQ(others(64), (Tiling{1, 2, 4, 8, 16}));
}

TEST(ThreadTilings, DimensionsAreIndexedByPureDimension) {
    // Loops in reverse order: loop 0 is dimension 1.
    StageExtents reversed;
    reversed.size = {4, 128};
    reversed.pure_dim = {1, 0};
    reversed.lane_loop = 1;
    EXPECT_EQ(tilings(reversed, {1}, {}), tilings(pure_stage({128, 4}), {1}, {}));
}

TEST(ThreadTilings, AtMostThreeThreadDimensions) {
    for (const Tiling &t : tilings(pure_stage({16, 2, 2, 2}), {1, 1, 1}, {})) {
        EXPECT_LT(t[1] * t[2] * t[3], 8);
    }
    // Threads of others fill the third dimension already.
    EXPECT_EQ(tilings(pure_stage({16, 2}), {16, 2, 2}, {}), (Tilings{{16, 1}, {16, 2}}));
}

TEST(ThreadTilings, SerialRemainderOfAtMost16) {
    EXPECT_EQ(tilings(pure_stage({256}), {1}, serial_inner()), single_dim({16, 32, 64}));
    EXPECT_EQ(tilings(pure_stage({257}), {1}, serial_inner()), single_dim({32, 64}));
    EXPECT_EQ(tilings(pure_stage({1025}), {1}, serial_inner()), Tilings{});
}

TEST(ThreadTilings, ThreadLimitComesFromTheDevice) {
    GpuDevice small;
    small.max_threads_per_block = 32;
    EXPECT_EQ(thread_tilings({pure_stage({128})}, {1}, {}, small), single_dim({16, 32}));
    EXPECT_THROW(thread_tilings({}, {1}, {}, kV100), InternalError);
}

TEST(RankRootTilings, SortsByIdleCoresStably) {
    const StageExtents stage = pure_stage({1024, 1024});
    // 80 multiprocessors: 1024 blocks need 13 rounds for 12.8, 4096 need 52 for 51.2.
    const Tilings candidates = {{32, 32}, {16, 16}, {16, 16}, {64, 8}};
    const auto ranked = rank_root_tilings(candidates, {stage}, {1024, 1024}, 80);
    ASSERT_EQ(ranked.size(), 4u);
    EXPECT_EQ(ranked[0].threads, (Tiling{32, 32}));
    EXPECT_DOUBLE_EQ(ranked[0].idle_core_waste, 13 / 12.8);
    EXPECT_EQ(ranked[0].min_blocks, 1024);
    EXPECT_EQ(ranked[1].threads, (Tiling{16, 16}));
    EXPECT_DOUBLE_EQ(ranked[1].idle_core_waste, 52 / 51.2);
    EXPECT_EQ(ranked[3].threads, (Tiling{64, 8}));
}

TEST(RankRootTilings, WantsTwoBlocksPerMultiprocessor) {
    const StageExtents stage = pure_stage({1024});
    const auto ranked = rank_root_tilings(single_dim({1, 4, 8, 16}), {stage}, {1024}, 64);
    // 1024, 256, 128 and 64 blocks.
    ASSERT_EQ(ranked.size(), 3u);
    EXPECT_EQ(ranked[2].threads, (Tiling{8}));
}

TEST(RankRootTilings, RelaxesByHalving) {
    const StageExtents stage = pure_stage({1024});
    // 127, 64 and 32 blocks: none has 128, so 64 are enough.
    const auto ranked = rank_root_tilings(single_dim({1, 2, 4}), {stage}, {127}, 64);
    ASSERT_EQ(ranked.size(), 2u);
    EXPECT_EQ(ranked[0].threads, (Tiling{2}));
    EXPECT_EQ(ranked[1].threads, (Tiling{1}));
    EXPECT_DOUBLE_EQ(ranked[1].idle_core_waste, 128.0 / 127);

    // 40 and 20 blocks of 64: half of 64 is reached by the first.
    EXPECT_EQ(rank_root_tilings(single_dim({1, 2}), {stage}, {40}, 64).size(), 1u);
    EXPECT_TRUE(rank_root_tilings({}, {stage}, {40}, 64).empty());
}

TEST(RankRootTilings, SmallStagesThatAreFullySpreadDoNotCount) {
    // 100 points for 80 multiprocessors: too few, whatever is done.
    const StageExtents small = pure_stage({100});
    const auto spread = rank_root_tilings(single_dim({1}), {small}, {100}, 80);
    ASSERT_EQ(spread.size(), 1u);
    EXPECT_EQ(spread[0].min_blocks, 0);
    EXPECT_EQ(spread[0].idle_core_waste, 1);
    // With two points per thread it counts: 50 blocks keep 50 of 80 busy.
    const auto half = rank_root_tilings(single_dim({2}), {small}, {100}, 80);
    ASSERT_EQ(half.size(), 1u);
    EXPECT_EQ(half[0].min_blocks, 50);
    EXPECT_DOUBLE_EQ(half[0].idle_core_waste, 1.6);
}

TEST(RankRootTilings, TheWorstStageDecides) {
    // The update does not iterate over dimension 1.
    StageExtents update;
    update.size = {1000, 1024};
    update.pure_dim = {-1, 0};
    update.lane_loop = 1;
    const auto ranked =
        rank_root_tilings({{16, 1}}, {pure_stage({1024, 8}), update}, {1024, 8}, 30);
    ASSERT_EQ(ranked.size(), 1u);
    EXPECT_EQ(ranked[0].min_blocks, 64);
    EXPECT_DOUBLE_EQ(ranked[0].idle_core_waste, 3 / (64.0 / 30));
}

}  // namespace
}  // namespace anderson2021
