#include "device/warp_layout.h"

#include <algorithm>

#include "support/error.h"

namespace anderson2021 {
namespace {

/// Collects up to max_thread_dims extents other than 1 whose product fits into a block.
class ThreadDims {
public:
    ThreadDims(int64_t (&extents)[3], const GpuDevice &device)
        : extents_(extents), device_(device) {}

    /// Takes `extent` as the next dimension. True if it was taken; after the first extent that does
    /// not fit no further one is.
    bool take(int64_t extent) {
        if (full_ || extent == 1) {
            return false;
        }
        if (count_ == std::min(device_.max_thread_dims, 3) ||
            total_ * extent > device_.max_threads_per_block) {
            full_ = true;
            return false;
        }
        extents_[count_++] = extent;
        total_ *= extent;
        return true;
    }

    int64_t total() const { return total_; }

private:
    int64_t (&extents_)[3];
    const GpuDevice &device_;
    int count_ = 0;
    int64_t total_ = 1;
    bool full_ = false;
};

/// Active lanes among `count` threads from number `first` on: a run of them per row of threads.
uint64_t lane_mask(const WarpLayout &layout, int64_t first, int64_t count) {
    uint64_t mask = 0;
    const int64_t row = first / layout.grid[0];
    int64_t y = row % layout.grid[1];
    int64_t z = row / layout.grid[1];
    for (int64_t row_begin = row * layout.grid[0]; row_begin < first + count;
         row_begin += layout.grid[0]) {
        const int64_t row_active = std::min(layout.extent[0], layout.grid[0]);
        const int64_t begin = std::max(row_begin, first) - first;
        const int64_t end = std::min(row_begin + row_active, first + count) - first;
        if (begin < end && y < layout.extent[1] && z < layout.extent[2]) {
            mask |= (~uint64_t{0} >> (WarpLayout::kMaxLanes - (end - begin))) << begin;
        }
        if (++y == layout.grid[1]) {
            y = 0;
            z++;
        }
    }
    return mask;
}

int count_bits(uint64_t mask) {
    return __builtin_popcountll(mask);
}

/// Number of warps with an active thread. Active threads come in rows along x of the same length;
/// rows come in ascending order, so a warp is new unless it is the last one counted.
int64_t count_active_warps(const WarpLayout &layout, const int64_t (&active)[3], int warp_size) {
    int64_t warps = 0;
    int64_t last = -1;
    for (int64_t z = 0; z < active[2]; z++) {
        for (int64_t y = 0; y < active[1]; y++) {
            const int64_t begin = layout.grid[0] * (y + layout.grid[1] * z);
            const int64_t first = std::max(begin / warp_size, last + 1);
            last = std::max(last, (begin + active[0] - 1) / warp_size);
            warps += last - first + 1;
        }
    }
    return warps;
}

}  // namespace

bool WarpLayout::is_active(int64_t thread) const {
    const int64_t row = thread / grid[0];
    return thread % grid[0] < extent[0] && row % grid[1] < extent[1] && row / grid[1] < extent[2];
}

double WarpLayout::lane_utilization(const GpuDevice &device) const {
    return static_cast<double>(num_active_threads) /
           static_cast<double>(device.warp_size * num_active_warps);
}

double WarpLayout::idle_lane_waste(const GpuDevice &device) const {
    return static_cast<double>(device.warp_size * num_active_warps - num_active_threads) /
           device.max_threads_per_block;
}

WarpLayout make_warp_layout(const Extents &size,
                            int lane_loop,
                            const Extents &union_extents,
                            const GpuDevice &device) {
    const int warp_size = device.warp_size;
    ANDERSON_CHECK(warp_size > 0 && warp_size <= WarpLayout::kMaxLanes)
        << "Warps of " << warp_size << " lanes are not supported.";
    WarpLayout layout;

    ThreadDims grid(layout.grid, device);
    for (const int64_t e : union_extents) {
        grid.take(e);
    }
    const int64_t num_grid_threads = grid.total();
    layout.warps_per_block = (num_grid_threads + warp_size - 1) / warp_size;

    ThreadDims own(layout.extent, device);
    const auto take_loop = [&](int loop) {
        if (own.take(size[static_cast<size_t>(loop)])) {
            layout.loops.push_back(loop);
        }
    };
    if (lane_loop >= 0) {
        take_loop(lane_loop);
    }
    for (int i = 0; i < static_cast<int>(size.size()); i++) {
        if (i != lane_loop) {
            take_loop(i);
        }
    }
    if (layout.loops.empty() && !size.empty()) {
        layout.loops.push_back(0);
    }
    layout.num_threads = own.total();

    // A stage whose extents do not fit into the grid has only the threads that exist.
    int64_t active[3];
    for (int k = 0; k < 3; k++) {
        active[k] = std::min(layout.extent[k], layout.grid[k]);
    }
    layout.num_active_threads = active[0] * active[1] * active[2];
    layout.num_active_warps = count_active_warps(layout, active, warp_size);

    const int64_t last_begin = layout.first_thread_of_last_warp(device);
    layout.tail_length = num_grid_threads - last_begin;
    layout.first_warp_lanes = lane_mask(layout, 0, std::min<int64_t>(warp_size, num_grid_threads));
    layout.last_warp_lanes = lane_mask(layout, last_begin, layout.tail_length);
    layout.has_tail_warp = layout.last_warp_lanes != 0 && count_bits(layout.last_warp_lanes) !=
                                                              count_bits(layout.first_warp_lanes);
    layout.num_regular_warps = layout.num_active_warps - (layout.has_tail_warp ? 1 : 0);
    return layout;
}

}  // namespace anderson2021
