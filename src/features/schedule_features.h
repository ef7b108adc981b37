// One row of schedule features: 73 doubles with names, in network order.
#pragma once

#include <array>
#include <cstddef>

namespace anderson2021 {

/// Features of one stage in one schedule. Names, units and meanings: schedule_features.def.
struct ScheduleFeatures {
#define ANDERSON_SCHEDULE_FEATURE(name, unit, default_value, meaning) double name = default_value;
#include "features/schedule_features.def"
#undef ANDERSON_SCHEDULE_FEATURE

    static constexpr int kCount = 73;

    double *data() {
        return &num_realizations;
    }
    const double *data() const {
        return &num_realizations;
    }
    double &operator[](int i) {
        return data()[i];
    }
    double operator[](int i) const {
        return data()[i];
    }
};

static_assert(sizeof(ScheduleFeatures) == sizeof(double) * ScheduleFeatures::kCount,
              "the row must be 73 doubles without padding");

constexpr int kNumScheduleFeatures = ScheduleFeatures::kCount;
/// Versions of the two layouts; stored in weights files.
constexpr unsigned kAlgorithmFeaturesVersion = 3;
constexpr unsigned kScheduleFeaturesVersion = 3;

/// Name of feature i, as printed in logs.
const char *schedule_feature_name(int i);
/// Unit of feature i.
const char *schedule_feature_unit(int i);
/// One-line meaning of feature i.
const char *schedule_feature_meaning(int i);

}  // namespace anderson2021
