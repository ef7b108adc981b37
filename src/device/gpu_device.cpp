#include "device/gpu_device.h"

namespace anderson2021 {
namespace {

struct Row {
    const char *name;
    int compute_capability;
    int num_sms;
    int64_t shared_kib_per_sm;
    int max_blocks_per_sm;
    int max_warps_per_sm;
};

constexpr Row kRows[] = {
#define ANDERSON_GPU_DEVICE(name, capability, sms, shared_kib, blocks, warps)                      \
    {#name, capability, sms, shared_kib, blocks, warps},
#include "device/gpu_devices.def"
#undef ANDERSON_GPU_DEVICE
};

}  // namespace

std::optional<GpuDevice> find_gpu_device(const std::string &name) {
    for (const Row &row : kRows) {
        if (name == row.name) {
            GpuDevice device;
            device.name = row.name;
            device.compute_capability = row.compute_capability;
            device.num_sms = row.num_sms;
            device.shared_bytes_per_sm = row.shared_kib_per_sm * 1024;
            device.max_blocks_per_sm = row.max_blocks_per_sm;
            device.max_warps_per_sm = row.max_warps_per_sm;
            return device;
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
