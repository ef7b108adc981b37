#include "training/sample.h"

#include <cstring>

namespace anderson2021 {

namespace {

// The sum is kept in 32 bits: existing tools compute it so.
void mix(uint64_t &hash, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const uint32_t salted = bits + 0x9e3779b9u;
    hash ^= salted + (hash << 6) + (hash >> 2);
}

}  // namespace

const char *label_source_name(LabelSource source) {
    switch (source) {
    case LabelSource::Measured:
        return "measured";
    case LabelSource::Predicted:
        return "predicted";
    case LabelSource::Unknown:
        break;
    }
    return "unknown";
}

uint64_t schedule_hash(const float *features, int num_stages) {
    uint64_t hash = 0;
    for (int i = 0; i < num_stages * kNumScheduleFeatures; i++) {
        mix(hash, features[i]);
    }
    return hash;
}

uint64_t pipeline_hash(const float *algorithm, int num_stages) {
    constexpr int kTypes = 7, kKinds = (kNumAlgorithmFeaturesPerRecord - kTypes) / kTypes;
    uint64_t hash = 0;
    for (int stage = 0; stage < num_stages; stage++) {
        const float *counts = algorithm + stage * kNumAlgorithmFeaturesPerRecord + kTypes;
        for (int type = 0; type < kTypes; type++) {
            for (int kind = 0; kind < kKinds; kind++) {
                mix(hash, counts[kind * kTypes + type]);
            }
        }
    }
    return hash;
}

}  // namespace anderson2021
