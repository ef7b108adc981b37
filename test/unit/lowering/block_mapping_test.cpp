#include <gtest/gtest.h>

#include "lowering/block_mapping.h"

namespace anderson2021 {
namespace {

TEST(GroupGrid, GivesEveryDimensionOneLoopAndTheLastTheRest) {
    const GpuDevice device;
    EXPECT_EQ(group_grid({}, device), (std::vector<int>{}));
    EXPECT_EQ(group_grid({100}, device), (std::vector<int>{1}));
    EXPECT_EQ(group_grid({100, 50}, device), (std::vector<int>{1, 1}));
    EXPECT_EQ(group_grid({100, 50, 3}, device), (std::vector<int>{1, 1, 1}));
    EXPECT_EQ(group_grid({100, 50, 3, 7, 2}, device), (std::vector<int>{1, 1, 3}));
}

TEST(GroupGrid, FusesWhereALaunchWouldExceedTheLimits) {
    const GpuDevice device;
    // Dimensions y and z hold 65535 blocks; four times the plan must fit.
    EXPECT_EQ(group_grid({1, 16383}, device), (std::vector<int>{1, 1}));
    EXPECT_EQ(group_grid({1, 16384}, device), (std::vector<int>{2}));
    EXPECT_EQ(group_grid({1, 125000}, device), (std::vector<int>{2}));
    EXPECT_EQ(group_grid({10, 20, 125000}, device), (std::vector<int>{3}));
    EXPECT_EQ(group_grid({10, 125000, 20}, device), (std::vector<int>{2, 1}));
    EXPECT_EQ(group_grid({10, 20, 200, 200}, device), (std::vector<int>{1, 2, 1}));
}

TEST(GroupGrid, PutsEverythingInXIfNothingFits) {
    const GpuDevice device;
    const int64_t many = int64_t{1} << 31;
    EXPECT_EQ(group_grid({many, many, many}, device), (std::vector<int>{3}));
}

}  // namespace
}  // namespace anderson2021
