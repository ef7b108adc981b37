#include "features/feature_io.h"

#include <cstring>

namespace anderson2021 {

std::vector<uint8_t> write_featurization(const std::vector<FeatureRecordView> &records) {
    std::vector<float> numbers;
    numbers.reserve(records.size() * static_cast<size_t>(kFloatsPerRecord));
    for (const FeatureRecordView &r : records) {
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            numbers.push_back(static_cast<float>(r.schedule[i]));
        }
        for (int i = 0; i < kNumAlgorithmFeaturesPerRecord; i++) {
            numbers.push_back(static_cast<float>(r.algorithm[i]));
        }
    }
    std::vector<uint8_t> blob(numbers.size() * sizeof(float));
    if (!blob.empty()) {
        std::memcpy(blob.data(), numbers.data(), blob.size());
    }
    return blob;
}

std::optional<std::vector<FeatureRecord>> read_featurization(const std::vector<uint8_t> &blob,
                                                             std::string &error) {
    if (blob.size() % kBytesPerRecord != 0) {
        error = "a featurization consists of records of " + std::to_string(kBytesPerRecord) +
                " bytes, but there are " + std::to_string(blob.size()) + " bytes";
        return std::nullopt;
    }
    std::vector<FeatureRecord> records(blob.size() / kBytesPerRecord);
    const uint8_t *at = blob.data();
    for (FeatureRecord &r : records) {
        std::memcpy(r.schedule.data(), at, sizeof(r.schedule));
        at += sizeof(r.schedule);
        std::memcpy(r.algorithm.data(), at, sizeof(r.algorithm));
        at += sizeof(r.algorithm);
    }
    return records;
}

}  // namespace anderson2021
