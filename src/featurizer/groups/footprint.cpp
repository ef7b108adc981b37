// How many distinct bytes a stage reads, by the memory class of what it reads.
//
// Two views of the same reads: one realization of the stage's Func, seen from its store site, and
// one point, seen from the level around its leaf. Each producer counts once, however many ways lead
// to it. A line is a run of elements along the producer's innermost storage dimension.
#include <algorithm>
#include <array>

#include "featurizer/groups/extents.h"
#include "featurizer/groups/groups.h"

namespace anderson2021 {

namespace {

struct Amount {
    double bytes = 0;
    double lines = 0;

    void operator+=(const Amount &other) {
        bytes += other.bytes;
        lines += other.lines;
    }
};

/// One amount per memory class.
class AmountByMemory {
public:
    Amount &operator[](MemoryType memory) { return amounts_[static_cast<size_t>(memory)]; }

private:
    std::array<Amount, 5> amounts_;
};

struct Footprints {
    /// Read in one iteration of the reading site.
    AmountByMemory loaded;
    /// Read by one thread.
    AmountByMemory per_thread;
    /// Allocated for what is read (bytes only).
    AmountByMemory allocated;
};

/// Where the reads are looked at.
struct ReadingSite {
    const LoopNest &nest;
    /// How often the body of the nest is run.
    int64_t count = 1;
};

Amount amount_of(const FuncRegion &region, const Site &site) {
    const FuncNode &func = region.func();
    int dense = -1;
    if (func.is_input) {
        dense = 0;
    } else if (site.scheduled) {
        dense = site.produce->vector_dim;
    }
    double points = 1;
    double lines = 1;
    double longest = 1;
    for (int d = 0; d < func.dims(); d++) {
        const auto extent = static_cast<double>(region.required(d).extent());
        points *= extent;
        lines *= d == dense ? 1 : extent;
        longest = std::max(longest, extent);
    }
    if (!func.is_input && !site.scheduled) {
        lines /= longest;
    }
    return {static_cast<double>(func.bytes_per_point) * points, lines};
}

/// Realizations of the producer per iteration of the reading site, rounded down, at least 1.
int64_t reuse(const LoopContext &at, const FuncNode &producer, const Site &site, int64_t count) {
    if (producer.is_input) {
        return 1;
    }
    int64_t realizations = std::max<int64_t>(site.num_realizations, 1);
    if (site.scheduled) {
        realizations = site.compute->is_root() ? 1 : at.env.sites.place(site.compute).sub_instances;
    }
    return realizations > count ? realizations / count : 1;
}

void add_producer(const LoopContext &at, const ReadingSite &reader, int id, Footprints &sums) {
    const FuncNode &producer = at.env.graph.func(id);
    const Site &site = at.env.site_of_func(id);
    const MemoryType memory = site.memory;
    if (memory == MemoryType::Global || memory == MemoryType::Shared) {
        sums.allocated[memory] += {bytes_computed(site.compute->regions->of(id)), 0};
    }
    if (reuse(at, producer, site, reader.count) > 1) {
        const Amount stored = amount_of(site.store->regions->of(id), site);
        sums.loaded[memory] += stored;
        sums.per_thread[memory] += stored;
        return;
    }
    const Amount read = amount_of(reader.nest.regions->of(id), site);
    sums.loaded[memory] += read;
    if (!at.nest.innermost) {
        return;  // nobody asks for threads at a production
    }
    if (memory == MemoryType::Registers && site.store != at.gpu.thread) {
        sums.per_thread[memory] += amount_of(site.store->regions->of(id), site);
    } else if (at.gpu.thread == nullptr) {
        sums.per_thread[memory] += read;  // a stage without loops: its only thread reads all
    } else {
        sums.per_thread[memory] += amount_of(at.gpu.thread->regions->of(id), site);
    }
}

Footprints footprints(const LoopContext &at, const ReadingSite &reader) {
    Footprints sums;
    for (const ProducerVisit &visit : at.plan.visits) {
        if (visit.first) {
            add_producer(at, reader, visit.producer, sums);
        }
    }
    return sums;
}

}  // namespace

void add_realization_footprint(const LoopContext &at, ScheduleFeatures &f) {
    Footprints sums = footprints(at, {*at.site().store, at.instances});
    if (at.stage.index > 0) {
        // An update reads what it updates.
        const MemoryType own = at.env.site_of_func(at.func.id).memory;
        sums.loaded[own] +=
            {f.bytes_at_production, f.bytes_at_production / f.innermost_bytes_at_production};
        sums.allocated[own] += {f.bytes_at_production, 0};
    }
    AmountByMemory &loaded = sums.loaded;
    f.unique_global_bytes_read_per_realization = loaded[MemoryType::Global].bytes;
    f.unique_shared_bytes_read_per_realization = loaded[MemoryType::Shared].bytes;
    f.unique_register_bytes_read_per_realization = loaded[MemoryType::Registers].bytes;
    f.unique_global_lines_read_per_realization = loaded[MemoryType::Global].lines;
    f.unique_shared_lines_read_per_realization = loaded[MemoryType::Shared].lines;
    f.unique_register_lines_read_per_realization = loaded[MemoryType::Registers].lines;
    AmountByMemory &allocated = sums.allocated;
    f.global_allocation_bytes_read_per_realization = allocated[MemoryType::Global].bytes;
    f.shared_allocation_bytes_read_per_realization = allocated[MemoryType::Shared].bytes;
    f.register_allocation_bytes_read_per_realization = allocated[MemoryType::Registers].bytes;
}

void add_point_footprint(const LoopContext &at, ScheduleFeatures &f) {
    Footprints sums = footprints(at, {at.parent, at.instances});
    AmountByMemory &thread = sums.per_thread;
    f.unique_global_bytes_read_per_thread = thread[MemoryType::Global].bytes;
    f.unique_shared_bytes_read_per_thread = thread[MemoryType::Shared].bytes;
    f.unique_register_bytes_read_per_thread = thread[MemoryType::Registers].bytes;
    f.unique_global_lines_read_per_thread = thread[MemoryType::Global].lines;
    f.unique_shared_lines_read_per_thread = thread[MemoryType::Shared].lines;
    f.unique_register_lines_read_per_thread = thread[MemoryType::Registers].lines;
    const Amount global = sums.loaded[MemoryType::Global];
    const Amount shared = sums.loaded[MemoryType::Shared];
    const Amount registers = sums.loaded[MemoryType::Registers];
    f.unique_bytes_read_per_point = global.bytes + shared.bytes + registers.bytes;
    // Compat: register bytes where register lines are meant.
    f.unique_lines_read_per_point = global.lines + shared.lines + registers.bytes;
}

}  // namespace anderson2021
