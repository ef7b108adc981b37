#include "device/gpu_device.h"

#include <algorithm>

namespace anderson2021 {
namespace {

struct Row {
    const char *name;
    const char *title;
    int compute_capability;
    int num_sms;
    int max_blocks_per_sm;
    int max_warps_per_sm;
    int64_t registers_per_sm;
    int64_t shared_kib_per_sm;
    int64_t shared_kib_per_block;
    int max_threads_per_block;
};

constexpr Row kRows[] = {
#define ANDERSON_GPU_DEVICE(                                                                       \
    name, title, capability, sms, blocks, warps, registers, sm_kib, block_kib, threads)            \
    {#name, title, capability, sms, blocks, warps, registers, sm_kib, block_kib, threads},
#include "device/gpu_devices.def"
#undef ANDERSON_GPU_DEVICE
};

GpuDevice device_of(const Row &row) {
    GpuDevice device;
    device.name = row.name;
    device.title = row.title;
    device.compute_capability = row.compute_capability;
    device.num_sms = row.num_sms;
    device.max_blocks_per_sm = row.max_blocks_per_sm;
    device.max_warps_per_sm = row.max_warps_per_sm;
    device.registers_per_sm = row.registers_per_sm;
    device.shared_bytes_per_sm = row.shared_kib_per_sm * 1024;
    device.shared_bytes_per_block = row.shared_kib_per_block * 1024;
    device.max_threads_per_block = row.max_threads_per_block;
    for (int64_t &extent : device.max_thread_extent) {
        extent = std::min<int64_t>(extent, row.max_threads_per_block);
    }
    return device;
}

}  // namespace

std::optional<GpuDevice> find_gpu_device(const std::string &name) {
    for (const Row &row : kRows) {
        if (name == row.name) {
            return device_of(row);
        }
    }
    return std::nullopt;
}

std::optional<GpuDevice> find_gpu_of_capability(int compute_capability) {
    for (const Row &row : kRows) {
        if (row.compute_capability > 0 && compute_capability == row.compute_capability) {
            return device_of(row);
        }
    }
    return std::nullopt;
}

std::vector<std::string> gpu_device_names() {
    std::vector<std::string> names;
    for (const Row &row : kRows) {
        names.emplace_back(row.name);
    }
    return names;
}

}  // namespace anderson2021
