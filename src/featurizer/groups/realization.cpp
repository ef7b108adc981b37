#include "featurizer/groups/extents.h"
#include "featurizer/groups/groups.h"

namespace anderson2021 {

// A Func is allocated once per iteration of the body of its compute site, which is the parent of
// its outermost nests. All regions are those at that site.
void add_realization(const LoopContext &at, ScheduleFeatures &f) {
    const FuncRegion &region = at.own_region(at.parent);
    double points = 1;
    double points_outside_lanes = 1;
    for (size_t i = 0; i < at.stage.loops.size(); i++) {
        const auto extent =
            static_cast<double>(region.loop(at.stage.index, static_cast<int>(i)).extent());
        points *= extent;
        // Every iteration of a lane loop is run by a lane, so such a stage has no scalar points.
        points_outside_lanes *= static_cast<int>(i) == at.nest.lane_loop ? 0 : extent;
    }
    f.num_realizations = static_cast<double>(at.instances);
    f.points_computed_per_realization = points;
    f.points_computed_total = points * f.num_realizations;
    f.num_scalars = f.num_realizations * points_outside_lanes;
    f.bytes_at_realization = bytes_computed(region);
    f.innermost_bytes_at_realization = innermost_bytes_computed(region, at.nest.vector_dim);
    if (!at.is_task()) {
        kBytesAtTask.set(f, at.site().memory, f.bytes_at_realization);
        kInnermostBytesAtTask.set(f, at.site().memory, f.innermost_bytes_at_realization);
    }
}

}  // namespace anderson2021
