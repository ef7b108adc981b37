// Trip counts and unrolling around the leaf.
#include <algorithm>

#include "featurizer/groups/groups.h"
#include "schedule/unrolling.h"

namespace anderson2021 {

namespace {

/// All loops around the leaf become straight-line code.
bool is_unrolled(const LoopContext &at) {
    const BitSet unrolled = unrolled_loops(at.stage, *at.grandparent, at.env.device);
    return unrolled.count() == static_cast<int>(at.stage.loops.size());
}

}  // namespace

void add_loop_extents(const LoopContext &at, ScheduleFeatures &f) {
    double all = 1;
    double pure = 1;
    for (size_t i = 0; i < at.nest.size.size(); i++) {
        const auto size = static_cast<double>(at.nest.size[i]);
        all *= size;
        if (!at.stage.loops[i].rvar) {
            pure *= size;
        }
    }
    f.innermost_loop_extent = all;
    f.innermost_pure_loop_extent = pure;
}

void add_leaf_loops(const LoopContext &at, ScheduleFeatures &f) {
    const bool small =
        f.innermost_pure_loop_extent <= static_cast<double>(at.env.device.unroll_limit);
    f.unrolled_loop_extent = small && is_unrolled(at) ? f.innermost_pure_loop_extent : 1;
    f.points_computed_per_thread = static_cast<double>(at.gpu.total_serial());
    f.points_computed_per_production = static_cast<double>(at.sub_instances) / f.num_productions;
    f.expr_branching = at.plan.branching;
}

}  // namespace anderson2021
