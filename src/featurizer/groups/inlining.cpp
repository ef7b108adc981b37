// An inlined Func has no nests; its row describes the leaves that contain it.
#include <algorithm>

#include "featurizer/groups/groups.h"

namespace anderson2021 {

InlinedSums
inlined_into(const LoopContext &at, const ScheduleFeatures &f, const InlinedCall &call) {
    const auto calls = static_cast<double>(call.calls);
    const auto tasks = static_cast<double>(at.outer_tasks);
    InlinedSums sums;
    sums.func = call.func;
    sums.calls = calls * static_cast<double>(at.sub_instances);
    sums.num_scalars = calls * f.num_scalars;
    sums.innermost_pure_loop_extent = f.innermost_pure_loop_extent;
    sums.tasks = tasks;
    sums.points_per_thread = calls * f.points_computed_per_thread;
    sums.vector_dim = at.nest.vector_dim;
    if (at.is_scalar() || at.gpu.layout == nullptr) {
        sums.warps = calls;
        sums.threads = 1;
    } else {
        // Compat: unlike for other stages, warps of all blocks and of all serial iterations.
        sums.warps = calls * static_cast<double>(at.gpu.total_serial()) *
                     static_cast<double>(at.gpu.layout->warps_per_block) * tasks;
        sums.threads = static_cast<double>(at.gpu.layout->num_threads);
    }
    return sums;
}

void add_inlined(InlinedSums &sums, const InlinedSums &later) {
    sums.calls += later.calls;
    sums.num_scalars += later.num_scalars;
    sums.innermost_pure_loop_extent =
        std::min(sums.innermost_pure_loop_extent, later.innermost_pure_loop_extent);
    sums.tasks = later.tasks;
    sums.warps += later.warps;
    sums.threads += later.threads;
    sums.points_per_thread += later.points_per_thread;
    sums.vector_dim = later.vector_dim;
}

void write_inlined(const InlinedSums &sums, ScheduleFeatures &f) {
    f.inlined_calls = sums.calls;
    f.num_scalars = sums.num_scalars;
    f.innermost_pure_loop_extent = sums.innermost_pure_loop_extent;
    f.inner_parallelism = 1;
    f.outer_parallelism = sums.tasks;
    f.num_blocks = sums.tasks;
    f.num_warps_per_block = sums.warps;
    f.num_threads_per_block = sums.threads;
    f.points_computed_per_thread = sums.points_per_thread;
}

}  // namespace anderson2021
