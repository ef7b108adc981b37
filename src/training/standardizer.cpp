#include "training/standardizer.h"

#include <algorithm>
#include <cmath>

namespace anderson2021 {

namespace {
// Inputs that hardly vary are not blown up.
constexpr double kSmallestDeviation = 0.1;
constexpr size_t kWidth = kHead2Width, kChannels = kHead2Channels, kL = kLanes;
}  // namespace

Standardizer::Standardizer() {
    deviation_.fill(1);
}

Standardizer::Standardizer(const std::vector<Batch> &batches) {
    std::array<double, kWidth> sums{}, squares{};
    double rows = 0;
    for (const Batch &batch : batches) {
        for (const Unit &unit : batch.units) {
            for (size_t i = 0; i < unit.inputs.size(); i++) {
                const auto value = static_cast<double>(unit.inputs[i]);
                sums[i / kL % kWidth] += value;
                squares[i / kL % kWidth] += value * value;
            }
            rows += static_cast<double>(unit.inputs.size() / kWidth);
        }
    }
    for (size_t s = 0; s < kWidth; s++) {
        mean_[s] = rows > 0 ? sums[s] / rows : 0;
        const double variance = rows > 0 ? squares[s] / rows - mean_[s] * mean_[s] : 0;
        deviation_[s] = std::sqrt(std::max(variance, kSmallestDeviation * kSmallestDeviation));
    }
}

void Standardizer::apply(std::vector<Batch> &training, std::vector<Batch> &validation) const {
    for (std::vector<Batch> *batches : {&training, &validation}) {
        for (Batch &batch : *batches) {
            for (Unit &unit : batch.units) {
                for (size_t i = 0; i < unit.inputs.size(); i++) {
                    const size_t s = i / kL % kWidth;
                    unit.inputs[i] = static_cast<float>(
                        (static_cast<double>(unit.inputs[i]) - mean_[s]) / deviation_[s]);
                }
            }
        }
    }
}

Weights Standardizer::to_standardized(const Weights &weights) const {
    Weights result = weights;
    for (size_t k = 0; k < kChannels; k++) {
        auto bias = static_cast<double>(weights.head2_bias[k]);
        for (size_t s = 0; s < kWidth; s++) {
            const auto value = static_cast<double>(weights.head2_filter[s * kChannels + k]);
            bias += value * mean_[s];
            result.head2_filter[s * kChannels + k] = static_cast<float>(value * deviation_[s]);
        }
        result.head2_bias[k] = static_cast<float>(bias);
    }
    return result;
}

Weights Standardizer::from_standardized(const Weights &weights) const {
    Weights result = weights;
    for (size_t k = 0; k < kChannels; k++) {
        auto bias = static_cast<double>(weights.head2_bias[k]);
        for (size_t s = 0; s < kWidth; s++) {
            const double value =
                static_cast<double>(weights.head2_filter[s * kChannels + k]) / deviation_[s];
            bias -= value * mean_[s];
            result.head2_filter[s * kChannels + k] = static_cast<float>(value);
        }
        result.head2_bias[k] = static_cast<float>(bias);
    }
    return result;
}

}  // namespace anderson2021
