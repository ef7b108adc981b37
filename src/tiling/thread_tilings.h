// Thread extents of a tile: pure functions of extents.
//
// Powers of two, or the full extent of a narrow dimension; at least half a warp along the lane
// dimension. Candidates that waste more than a seventh of the threads, exceed the limits of a
// block, or leave too much serial work are dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "device/gpu_device.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// Loops of one stage as far as thread tilings care.
struct StageExtents {
    /// Trip counts, innermost loop first.
    Extents size;
    /// Pure dimension of each loop; -1 for reductions.
    std::vector<int> pure_dim;
    /// Lane loop, or -1.
    int lane_loop = -1;
};

struct ThreadTilingOptions {
    /// Each serial remainder must be at most 16.
    bool serial_inner = false;
    /// The stages are at the root.
    bool root_stage = false;
};

/// Thread extents, one vector per tiling, one entry per loop of the pure stage `stages[0]` indexed
/// by its pure dimension. `stages` holds all stages of the Func, pure one first; `other_threads`
/// are the extents that the other Funcs of the block already use (innermost thread dimension
/// first).
std::vector<Extents> thread_tilings(const std::vector<StageExtents> &stages,
                                    const Extents &other_threads,
                                    const ThreadTilingOptions &options,
                                    const GpuDevice &device);

/// A thread tiling of a root Func together with how evenly it spreads over the multiprocessors.
struct RankedTiling {
    Extents threads;
    /// ceil(blocks / SMs) / (blocks / SMs), the worst over the stages; at least 1.
    double idle_core_waste = 1;
    /// Fewest blocks of a stage that counts.
    int64_t min_blocks = 0;
};

/// Keeps the tilings with enough blocks (at least twice `parallelism`, relaxed by halving from
/// `parallelism` if none has) and sorts them by idle_core_waste, stably.
/// `full` are the untiled extents of all root stages, `outer` the extents outside the serial loop
/// of the pure stage (per pure dimension).
std::vector<RankedTiling> rank_root_tilings(const std::vector<Extents> &tilings,
                                            const std::vector<StageExtents> &full,
                                            const Extents &outer,
                                            int parallelism);

}  // namespace anderson2021
