// The `.featurization` blob: what the autoscheduler knows about the schedule it chose.
//
// Raw 32-bit floats in host byte order, without header or separators: one record per stage, each
// with the features of the schedule followed by those of the algorithm. The order of the stages is
// the caller's business (PipelineGraph::record_order()).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/schedule_features.h"

namespace anderson2021 {

constexpr int kNumAlgorithmFeaturesPerRecord = 287;
constexpr int kFloatsPerRecord = kNumScheduleFeatures + kNumAlgorithmFeaturesPerRecord;
constexpr size_t kBytesPerRecord = sizeof(float) * static_cast<size_t>(kFloatsPerRecord);

/// The two feature vectors of one stage, borrowed from their owners.
struct FeatureRecordView {
    /// kNumScheduleFeatures numbers.
    const double *schedule = nullptr;
    /// kNumAlgorithmFeaturesPerRecord numbers.
    const int32_t *algorithm = nullptr;
};

/// One record as it is stored.
struct FeatureRecord {
    std::array<float, kNumScheduleFeatures> schedule{};
    std::array<float, kNumAlgorithmFeaturesPerRecord> algorithm{};
};

/// The blob of all records, in the given order. Values are rounded to 32-bit floats.
std::vector<uint8_t> write_featurization(const std::vector<FeatureRecordView> &records);

/// The records of a blob, or nothing and the reason in `error` if its size is not a whole number of
/// records.
std::optional<std::vector<FeatureRecord>> read_featurization(const std::vector<uint8_t> &blob,
                                                             std::string &error);

}  // namespace anderson2021
