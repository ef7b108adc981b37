#include "featurizer/groups/extents.h"
#include "featurizer/groups/groups.h"

namespace anderson2021 {

void add_production(const LoopContext &at, ScheduleFeatures &f) {
    const FuncRegion &region = at.own_region(at.parent);
    f.num_productions = static_cast<double>(at.instances);
    f.inner_parallelism = static_cast<double>(at.tasks);
    f.outer_parallelism = static_cast<double>(at.outer_tasks);
    f.bytes_at_production = bytes_computed(region);
    f.innermost_bytes_at_production = innermost_bytes_computed(region, at.nest.vector_dim);
}

}  // namespace anderson2021
