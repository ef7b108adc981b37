#include <algorithm>

#include "featurizer/groups/groups.h"
#include "featurizer/groups/leaf_access.h"

namespace anderson2021 {

namespace {

/// The dimension along which neighbours in memory really are neighbours: the innermost one unless
/// its extent is 1.
int innermost_long_dim(const FuncRegion &storage, int innermost) {
    const int dims = storage.func().dims();
    if (innermost >= 0 && innermost < dims && storage.computed(innermost).extent() > 1) {
        return innermost;
    }
    for (int d = 0; d < dims; d++) {
        if (storage.computed(d).extent() > 1) {
            return d;
        }
    }
    return innermost;
}

}  // namespace

// Every serial iteration stores, except that loops the left-hand side does not depend on keep the
// value in a register, and stores to shared memory may be wide.
MemoryTraffic count_stores(const LeafAccess &access) {
    MemoryTraffic traffic;
    const LoopContext &leaf = access.leaf();
    const Site &site = leaf.site();
    const bool shared = site.memory == MemoryType::Shared;
    if (leaf.func.dims() == 0 || !leaf.stage.store_jacobian.has_value() ||
        (!shared && site.memory != MemoryType::Global)) {
        return traffic;
    }
    const AccessJacobian &jacobian = *leaf.stage.store_jacobian;
    const FuncRegion &storage = leaf.own_region(*site.store);
    auto requests = static_cast<double>(leaf.gpu.total_serial());
    for (size_t j = 0; j < leaf.stage.loops.size(); j++) {
        if (jacobian.column_is_zero(static_cast<int>(j))) {
            requests /= static_cast<double>(leaf.parent.size[j]);
        }
    }
    if (shared) {
        requests /= static_cast<double>(
            access.vector_width(jacobian, innermost_long_dim(storage, leaf.nest.vector_dim)));
    }
    account(traffic,
            shared ? TrafficKind::Shared : TrafficKind::Global,
            access.warp_access(jacobian, false, storage, leaf.nest.vector_dim),
            requests,
            leaf.gpu.layout,
            leaf.env.device);
    return traffic;
}

void add_memory_traffic(const LoopContext &at, ScheduleFeatures &f) {
    const LeafAccess access(at);
    LoadTraffic loads;
    const MemoryTraffic stores = count_stores(access);
    const bool shared = at.site().memory == MemoryType::Shared;
    if (shared) {
        f.num_shared_mem_stores_per_block = stores.transactions;
        f.shared_mem_store_efficiency = stores.efficiency();
    } else if (at.site().memory == MemoryType::Global) {
        f.num_global_mem_stores_per_block = stores.transactions;
        f.global_mem_store_efficiency = stores.efficiency();
    }
    if (at.stage.index > 0) {
        // An update loads what it is about to overwrite.
        (shared ? loads.shared : loads.global).add(stores);
    }
    add_loads(access, f.unrolled_loop_extent > 1, loads);
    f.num_shared_mem_loads_per_block = loads.shared.transactions;
    f.num_global_mem_loads_per_block = loads.global.transactions;
    f.shared_mem_load_efficiency = loads.shared.efficiency();
    f.global_mem_load_efficiency = loads.global.efficiency();
}

}  // namespace anderson2021
