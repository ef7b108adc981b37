// A row of features as the cost model reads it.
#pragma once

#include <limits>

#include "features/schedule_features.h"

namespace anderson2021 {

/// Rows to be evaluated: (position in record order, features narrowed to float32).
struct StageRow {
    int position = 0;
    float features[kNumScheduleFeatures];
};

inline StageRow narrowed_row(int position, const ScheduleFeatures &features) {
    StageRow row;
    row.position = position;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        row.features[i] = static_cast<float>(features[i]);
    }
    return row;
}

/// False if a feature is not a finite number above -1: the network takes the logarithm of
/// feature + 1.
inline bool is_usable_row(const StageRow &row) {
    // Without an early exit, so that the loop can be vectorized: nearly all rows are usable.
    bool usable = true;
    for (const float value : row.features) {
        usable &= value > -1.0f && value <= std::numeric_limits<float>::max();
    }
    return usable;
}

}  // namespace anderson2021
