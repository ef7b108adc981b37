// Small helpers of the feature groups: products of extents, columns by memory class.
#pragma once

#include <cstdint>

#include "features/schedule_features.h"
#include "schedule/func_region.h"
#include "schedule/sites.h"

namespace anderson2021 {

/// Product of the extents of the region required of a Func, exact up to 2^53.
inline double points_required(const FuncRegion &region) {
    double points = 1;
    for (int d = 0; d < region.func().dims(); d++) {
        points *= static_cast<double>(region.required(d).extent());
    }
    return points;
}

/// The same of the region computed.
inline double points_computed(const FuncRegion &region) {
    double points = 1;
    for (int d = 0; d < region.func().dims(); d++) {
        points *= static_cast<double>(region.computed(d).extent());
    }
    return points;
}

inline double bytes_computed(const FuncRegion &region) {
    return static_cast<double>(region.func().bytes_per_point) * points_computed(region);
}

/// Bytes along dimension `dim` of the region computed; those of one point if there is no such
/// dimension.
inline double innermost_bytes_computed(const FuncRegion &region, int dim) {
    const auto bytes = static_cast<double>(region.func().bytes_per_point);
    const bool exists = dim >= 0 && dim < region.func().dims();
    return exists ? bytes * static_cast<double>(region.computed(dim).extent()) : bytes;
}

/// The columns of one quantity for global, shared and register memory.
struct MemoryColumns {
    double ScheduleFeatures::*global;
    double ScheduleFeatures::*shared;
    double ScheduleFeatures::*registers;

    /// The column of a memory class; null if there is none.
    double *find(ScheduleFeatures &f, MemoryType memory) const {
        switch (memory) {
        case MemoryType::Global:
            return &(f.*global);
        case MemoryType::Shared:
            return &(f.*shared);
        case MemoryType::Registers:
            return &(f.*registers);
        case MemoryType::Local:
        case MemoryType::Inlined:
            break;
        }
        return nullptr;
    }
    void set(ScheduleFeatures &f, MemoryType memory, double value) const {
        if (double *const column = find(f, memory)) {
            *column = value;
        }
    }
};

constexpr MemoryColumns kBytesAtTask{&ScheduleFeatures::global_bytes_at_task,
                                     &ScheduleFeatures::shared_bytes_at_task,
                                     &ScheduleFeatures::register_bytes_at_task};
constexpr MemoryColumns kInnermostBytesAtTask{&ScheduleFeatures::global_innermost_bytes_at_task,
                                              &ScheduleFeatures::shared_innermost_bytes_at_task,
                                              &ScheduleFeatures::register_innermost_bytes_at_task};

}  // namespace anderson2021
