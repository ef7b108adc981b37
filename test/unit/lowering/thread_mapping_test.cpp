#include <gtest/gtest.h>

#include "lowering/thread_mapping.h"

namespace anderson2021 {
namespace {

TEST(KernelThreads, KeepsTheMaximumPerDimension) {
    const GpuDevice device;
    KernelThreads kernel(device);
    EXPECT_TRUE(kernel.try_take(0, 32));
    EXPECT_TRUE(kernel.try_take(1, 8));
    EXPECT_TRUE(kernel.try_take(0, 16));
    EXPECT_EQ(kernel.extent(0), 32);
    EXPECT_EQ(kernel.extent(1), 8);
    EXPECT_EQ(kernel.extent(2), 1);
}

TEST(KernelThreads, RefusesWhatExceedsTheProductOfAllStages) {
    const GpuDevice device;
    KernelThreads kernel(device);
    EXPECT_TRUE(kernel.try_take(0, 64));
    EXPECT_TRUE(kernel.try_take(1, 16));
    EXPECT_FALSE(kernel.try_take(1, 17));
    EXPECT_FALSE(kernel.try_take(2, 2));
    EXPECT_EQ(kernel.extent(1), 16);
    EXPECT_EQ(kernel.extent(2), 1);
}

TEST(KernelThreads, RefusesWhatExceedsADimension) {
    const GpuDevice device;
    KernelThreads kernel(device);
    EXPECT_FALSE(kernel.try_take(2, 65));
    EXPECT_TRUE(kernel.try_take(2, 64));
    EXPECT_FALSE(kernel.try_take(3, 2));
}

}  // namespace
}  // namespace anderson2021
