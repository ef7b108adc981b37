#include <algorithm>

#include "featurizer/groups/groups.h"

namespace anderson2021 {

void add_occupancy(const LoopContext &at, ScheduleFeatures &f) {
    if (at.is_scalar() || at.gpu.layout == nullptr) {
        return;
    }
    const GpuDevice &device = at.env.device;
    const WarpLayout &layout = *at.gpu.layout;
    f.warp_lane_utilization = layout.lane_utilization(device);
    f.num_active_warps_per_block = static_cast<double>(layout.num_active_warps);
    f.idle_lane_wastage = layout.idle_lane_waste(device);
    // The block as a whole, then the stage's own threads.
    f.num_warps_per_block = static_cast<double>(layout.warps_per_block);
    f.num_blocks = static_cast<double>(at.gpu.blocks);
    f.block_occupancy = static_cast<double>(layout.num_threads) / device.max_threads_per_block;
    f.num_threads_per_block = static_cast<double>(layout.num_threads);
    if (at.gpu.block == nullptr || at.gpu.block->func != at.nest.func) {
        return;
    }
    // Residency, by the limits on blocks and warps alone.
    const int64_t parallelism = at.env.parallelism;
    const int64_t max_blocks = device.max_blocks_per_sm;
    const int64_t max_warps = device.max_warps_per_sm;
    const int64_t blocks_per_sm = (at.gpu.blocks + parallelism - 1) / parallelism;
    const int64_t blocks = std::min(max_blocks, blocks_per_sm);
    const int64_t warps = std::min(max_warps, blocks * layout.warps_per_block);
    f.max_warp_occupancy = static_cast<double>(warps) / static_cast<double>(max_warps);
    const int64_t resident_blocks = warps / layout.warps_per_block;
    f.max_block_occupancy = static_cast<double>(resident_blocks) / static_cast<double>(max_blocks);
}

void add_shared_occupancy(const LoopContext &at, ScheduleFeatures &f) {
    const GpuDevice &device = at.env.device;
    const int64_t bytes = at.env.sites.shared_total(&at.nest);
    f.shared_mem_occupancy = std::min(
        1.0, static_cast<double>(bytes) / static_cast<double>(device.shared_bytes_per_block));
    if (bytes > 0) {
        const int64_t max_blocks = device.max_blocks_per_sm;
        const int64_t blocks = std::min(max_blocks, device.shared_bytes_per_sm / bytes);
        f.shared_mem_block_limit_factor =
            static_cast<double>(blocks) / static_cast<double>(max_blocks);
    }
}

}  // namespace anderson2021
