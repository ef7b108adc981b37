#include <gtest/gtest.h>

#include "device/gpu_device.h"

namespace anderson2021 {
namespace {

TEST(GpuDevice, DefaultIsTheV100Row) {
    ASSERT_FALSE(gpu_device_names().empty());
    EXPECT_EQ(gpu_device_names().front(), "v100");
    const std::optional<GpuDevice> row = find_gpu_device("v100");
    ASSERT_TRUE(row.has_value());
    const GpuDevice d;
    EXPECT_EQ(row->name, d.name);
    EXPECT_EQ(row->compute_capability, d.compute_capability);
    EXPECT_EQ(row->num_sms, d.num_sms);
    EXPECT_EQ(row->shared_bytes_per_sm, d.shared_bytes_per_sm);
    EXPECT_EQ(row->max_blocks_per_sm, d.max_blocks_per_sm);
    EXPECT_EQ(row->max_warps_per_sm, d.max_warps_per_sm);
}

TEST(GpuDevice, EveryNameIsFound) {
    for (const std::string &name : gpu_device_names()) {
        const std::optional<GpuDevice> d = find_gpu_device(name);
        ASSERT_TRUE(d.has_value()) << name;
        EXPECT_EQ(d->name, name);
        // A multiprocessor can hold at least one full block of threads and of shared memory.
        EXPECT_GE(d->max_warps_per_sm * d->warp_size, d->max_threads_per_block) << name;
        EXPECT_GE(d->shared_bytes_per_sm, d->shared_bytes_per_block) << name;
    }
    EXPECT_FALSE(find_gpu_device("V100").has_value());
    EXPECT_FALSE(find_gpu_device("").has_value());
}

TEST(GpuDevice, PublishedFigures) {
    const GpuDevice turing = *find_gpu_device("t4");
    EXPECT_EQ(turing.compute_capability, 75);
    EXPECT_EQ(turing.max_warps_per_sm, 32);
    EXPECT_EQ(turing.max_blocks_per_sm, 16);
    EXPECT_EQ(turing.shared_bytes_per_sm, 64 * 1024);
    const GpuDevice ampere = *find_gpu_device("rtx3090");
    EXPECT_EQ(ampere.compute_capability, 86);
    EXPECT_EQ(ampere.max_warps_per_sm, 48);
    EXPECT_EQ(ampere.shared_bytes_per_sm, 100 * 1024);
    EXPECT_EQ(find_gpu_device("a100")->num_sms, 108);
}

}  // namespace
}  // namespace anderson2021
