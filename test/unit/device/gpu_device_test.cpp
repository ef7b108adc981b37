#include <gtest/gtest.h>
#include <map>
#include <string>

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
    EXPECT_EQ(row->title, d.title);
    EXPECT_EQ(row->registers_per_sm, d.registers_per_sm);
    EXPECT_EQ(row->shared_bytes_per_block, d.shared_bytes_per_block);
    EXPECT_EQ(row->max_threads_per_block, d.max_threads_per_block);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(row->max_thread_extent[i], d.max_thread_extent[i]);
        EXPECT_EQ(row->max_grid_extent[i], d.max_grid_extent[i]);
    }
}

TEST(GpuDevice, EveryNameIsFound) {
    for (const std::string &name : gpu_device_names()) {
        const std::optional<GpuDevice> d = find_gpu_device(name);
        ASSERT_TRUE(d.has_value()) << name;
        EXPECT_EQ(d->name, name);
        // A multiprocessor can hold at least one full block of threads and of shared memory.
        EXPECT_GE(d->max_warps_per_sm * d->warp_size, d->max_threads_per_block) << name;
        EXPECT_GE(d->shared_bytes_per_sm, d->shared_bytes_per_block) << name;
        // So can its registers, with as many per thread as the runtime lets a thread have.
        if (d->registers_per_sm != 0) {
            EXPECT_GE(d->registers_per_sm, d->registers_per_thread * d->max_threads_per_block);
        }
        EXPECT_GE(d->max_threads_per_block, d->warp_size) << name;
        for (const int64_t extent : d->max_thread_extent) {
            EXPECT_LE(extent, d->max_threads_per_block) << name;
        }
    }
    EXPECT_FALSE(find_gpu_device("V100").has_value());
    EXPECT_FALSE(find_gpu_device("").has_value());
}

TEST(GpuDevice, DevicesOfOneCapabilityDifferInSizeOnly) {
    for (const std::string &name : gpu_device_names()) {
        const GpuDevice d = *find_gpu_device(name);
        const std::optional<GpuDevice> first = find_gpu_of_capability(d.compute_capability);
        ASSERT_EQ(first.has_value(), d.compute_capability != 0) << name;
        if (first) {
            EXPECT_EQ(first->compute_capability, d.compute_capability);
            EXPECT_EQ(first->max_blocks_per_sm, d.max_blocks_per_sm) << name;
            EXPECT_EQ(first->max_warps_per_sm, d.max_warps_per_sm) << name;
            EXPECT_EQ(first->shared_bytes_per_sm, d.shared_bytes_per_sm) << name;
        }
    }
    EXPECT_EQ(find_gpu_of_capability(70)->name, "v100");
    for (const int unknown : {-1, 0, 20, 61, 1000}) {
        EXPECT_FALSE(find_gpu_of_capability(unknown).has_value()) << unknown;
    }
}

TEST(GpuDevice, MultiprocessorsOfEveryProduct) {
    const std::map<std::string, int> published = {
        {"v100", 80},  {"p100", 56},    {"t4", 40},      {"rtx2060", 30},  {"rtx2080ti", 68},
        {"a100", 108}, {"a10", 72},     {"rtx3060", 28}, {"rtx3080", 68},  {"rtx3090", 82},
        {"l4", 58},    {"rtx4060", 24}, {"rtx4080", 76}, {"rtx4090", 128}, {"h100", 132},
        {"h200", 132}, {"b200", 148},   {"rtx5070", 48}, {"rtx5080", 84},  {"rtx5090", 170}};
    for (const auto &[name, sms] : published) {
        ASSERT_TRUE(find_gpu_device(name)) << name;
        EXPECT_EQ(find_gpu_device(name)->num_sms, sms) << name;
    }
}

TEST(GpuDevice, GenericDevicesHaveWhatTheirApiPromises) {
    const GpuDevice vulkan = *find_gpu_device("vulkan");
    EXPECT_EQ(vulkan.max_threads_per_block, 128);
    EXPECT_EQ(vulkan.max_thread_extent[0], 128);
    EXPECT_EQ(vulkan.max_thread_extent[2], 64);
    EXPECT_EQ(vulkan.shared_bytes_per_block, 16 * 1024);
    EXPECT_EQ(find_gpu_device("opencl")->max_threads_per_block, 256);
    EXPECT_EQ(find_gpu_device("metal")->shared_bytes_per_block, 32 * 1024);
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
