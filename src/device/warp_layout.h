// How the threads of a stage fall into warps.
//
// All stages of a block run on one grid of threads, the union of their extents, so a stage may
// leave threads of the grid idle. The cost model looks at two warps only: the first one, which
// stands for all others, and the last one if it differs from the first (the tail warp).
#pragma once

#include <cstdint>
#include <vector>

#include "device/gpu_device.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// Threads of one Thread nest inside the grid of its block. Thread number = x + gx*(y + gy*z); a
/// thread is active if its coordinates lie within the stage's own extents.
struct WarpLayout {
    /// Most lanes per warp that the lane masks can hold.
    static constexpr int kMaxLanes = 64;

    /// Grid of the block: union of thread extents; missing dimensions are 1.
    int64_t grid[3] = {1, 1, 1};
    /// The stage's own extents.
    int64_t extent[3] = {1, 1, 1};
    /// Loops of the stage that became thread dimensions x, y, z, in that order. Just loop 0 if no
    /// loop has more than one iteration; empty for a stage without loops.
    SmallVector<int, 4> loops;
    int64_t num_threads = 1;
    int64_t num_active_threads = 1;
    int64_t warps_per_block = 1;
    int64_t num_active_warps = 1;
    /// Warps that are costed like warp 0.
    int64_t num_regular_warps = 1;
    bool has_tail_warp = false;
    /// Thread numbers in the last warp of the grid.
    int64_t tail_length = 0;
    /// Bit l: lane l of warp 0 is active.
    uint64_t first_warp_lanes = 1;
    /// Bit l: lane l of the last warp of the grid is active.
    uint64_t last_warp_lanes = 1;

    bool is_active(int64_t thread) const;
    /// Number of the first thread of the last warp.
    int64_t first_thread_of_last_warp(const GpuDevice &device) const {
        return (warps_per_block - 1) * device.warp_size;
    }
    /// Active lanes by lanes of active warps.
    double lane_utilization(const GpuDevice &device) const;
    /// Idle lanes of active warps by the limit of threads per block.
    double idle_lane_waste(const GpuDevice &device) const;
};

/// @param size   sizes of the Thread nest per loop
/// @param lane_loop  lane loop or -1
/// @param union_extents  LoopNest::union_thread_extents of the block
WarpLayout make_warp_layout(const Extents &size,
                            int lane_loop,
                            const Extents &union_extents,
                            const GpuDevice &device);

}  // namespace anderson2021
