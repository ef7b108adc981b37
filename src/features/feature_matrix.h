// Features of all stages of one schedule.
#pragma once

#include <vector>

#include "features/schedule_features.h"

namespace anderson2021 {

/// One row per stage of the graph, by stage id; only stages that are placed or inlined have one.
class FeatureMatrix {
public:
    FeatureMatrix() = default;
    explicit FeatureMatrix(int num_stages)
        : rows_(static_cast<size_t>(num_stages)), present_(static_cast<size_t>(num_stages)) {}

    int num_stages() const { return static_cast<int>(rows_.size()); }
    bool has(int stage_id) const { return present_[static_cast<size_t>(stage_id)] != 0; }
    const ScheduleFeatures &row(int stage_id) const { return rows_[static_cast<size_t>(stage_id)]; }
    /// Creates the row with its defaults if there is none yet.
    ScheduleFeatures &get_or_create(int stage_id) {
        present_[static_cast<size_t>(stage_id)] = 1;
        return rows_[static_cast<size_t>(stage_id)];
    }

private:
    std::vector<ScheduleFeatures> rows_;
    std::vector<char> present_;
};

}  // namespace anderson2021
