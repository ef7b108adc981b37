#include "space/idle_lanes.h"

#include <algorithm>
#include <vector>

#include "device/warp_layout.h"

namespace anderson2021 {

namespace {

double worst_below(const LoopNest &nest, const Extents &block_threads, const GpuDevice &device) {
    double worst = 0;
    if (nest.axis == GpuAxis::Thread && !block_threads.empty()) {
        const WarpLayout layout =
            make_warp_layout(nest.size, nest.lane_loop, block_threads, device);
        worst = layout.idle_lane_waste(device);
    }
    for (const LoopNestPtr &child : nest.children) {
        if (child->has_thread_level()) {
            worst = std::max(worst, worst_below(*child, block_threads, device));
        }
    }
    return worst;
}

}  // namespace

double idle_lane_waste_of_task(const LoopNest &task, const GpuDevice &device) {
    return task.axis == GpuAxis::Block ? worst_below(task, task.union_thread_extents(), device) : 0;
}

double worst_idle_lane_waste(const LoopNest &root, const GpuDevice &device) {
    double worst = 0;
    for (const LoopNestPtr &task : root.children) {
        worst = std::max(worst, idle_lane_waste_of_task(*task, device));
    }
    return worst;
}

}  // namespace anderson2021
