// What the scheduler knows about a GPU: limits and transaction sizes, one row per device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anderson2021 {

/// Limits of a GPU. Memory sizes in bytes, everything else in units that the name says.
/// Defaults describe a V100 (compute capability 7.0), which the weights were trained on.
struct GpuDevice {
    std::string name = "v100";
    /// What the vendor calls it.
    std::string title = "NVIDIA Tesla V100";
    /// Of CUDA, times 10; 0 for other devices.
    int compute_capability = 70;
    int num_sms = 80;
    int warp_size = 32;
    int max_threads_per_block = 1024;
    int max_thread_dims = 3;
    int64_t max_thread_extent[3] = {1024, 1024, 64};
    int64_t max_grid_extent[3] = {2147483647, 65535, 65535};
    int64_t shared_bytes_per_block = 48 * 1024;
    int64_t shared_bytes_per_sm = 96 * 1024;
    int max_blocks_per_sm = 32;
    int max_warps_per_sm = 64;
    /// Of 32 bits each; 0: unknown.
    int64_t registers_per_sm = 65536;
    int64_t global_sector_bytes = 32;
    int64_t shared_transaction_bytes = 128;
    int64_t shared_banks = 32;
    int64_t shared_word_bytes = 4;
    int64_t local_transaction_bytes = 32;
    int64_t max_vector_bytes = 16;
    int64_t max_vector_elements = 4;
    /// Largest product of pure serial extents that is unrolled.
    int64_t unroll_limit = 16;
    /// Largest allocation of one Func that may live in registers.
    int64_t register_allocation_bytes = 128;
    /// Most registers of a thread: what Halide's runtime lets the driver use.
    int64_t registers_per_thread = 64;
    /// Stack that constant-size local allocations of a thread may share, before the stack factor.
    int64_t stack_bytes_per_thread = 103232;
    int64_t local_bytes_per_thread = 524288;
};

/// The device of that name ("v100", "a100", ...), or nothing.
std::optional<GpuDevice> find_gpu_device(const std::string &name);
/// The first device of that compute capability (times 10). All of one capability differ in the
/// number of multiprocessors only.
std::optional<GpuDevice> find_gpu_of_capability(int compute_capability);
/// Names of all known devices, in table order.
std::vector<std::string> gpu_device_names();

}  // namespace anderson2021
