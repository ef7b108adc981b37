#include "training/coordinates.h"

#include <algorithm>
#include <cmath>

#include "support/rng.h"

namespace anderson2021 {

namespace {

constexpr size_t kTerms = kConv1Channels, kHead1 = kHead1Channels, kL = kLanes;
constexpr float kSmallestShareOfCount = 2e-4f;
// Coefficients that are always zero need a size, too.
constexpr double kSmallestSize = 1e-3;
// Random numbers to start with: about so large.
constexpr float kSchedulePart = 0.35f, kScheduleBias = 0.5f;
constexpr float kAlgorithmFilter = 0.1f, kScheduleFilter = 0.2f;

}  // namespace

Coordinates::Coordinates(const std::vector<const Unit *> &units) : standardizer_(units) {
    std::array<double, kTerms> sums{}, squares{};
    std::array<double, kNumNetworkFeatures> counts{};
    double rows = 0, stages = 0, total = 0, total_squares = 0;
    for (const Unit *unit : units) {
        for (size_t w = 0; w < static_cast<size_t>(unit->num_stages()); w++) {
            double count = 0;
            for (const SparseAlgorithm::Entry &entry : unit->algorithm->stages[w]) {
                counts[entry.index] += static_cast<double>(entry.count);
                count += static_cast<double>(entry.count);
            }
            total += count;
            total_squares += count * count;
            stages++;
            for (size_t i = 0; i < kTerms * kL; i++) {
                const auto target = static_cast<double>(unit->targets[w * kTerms * kL + i]);
                sums[i / kL] += target;
                squares[i / kL] += target * target;
            }
            rows += kL;
        }
    }
    for (size_t c = 0; c < kTerms; c++) {
        sizes_[c] = static_cast<float>(std::sqrt(squares[c] / rows) + kSmallestSize);
        means_[c] = static_cast<float>(sums[c] / rows);
    }
    for (size_t i = 0; i < counts.size(); i++) {
        counts_[i] = static_cast<float>(counts[i] / stages);
    }
    const double variance = total_squares / stages - total / stages * total / stages;
    count_deviation_ = static_cast<float>(std::sqrt(std::max(variance, 1.0)));
}

// An embedding of an algorithm is a sum of shares of counts.
float Coordinates::embedding_scale(size_t input) const {
    return input < kHead1 ? 2.0f / count_deviation_ : 1.0f;
}

Weights Coordinates::random(int64_t seed) const {
    Rng rng(seed);
    // Mean 0, variance 1.
    const auto draw = [&rng] {
        double sum = 0;
        for (int i = 0; i < 12; i++) {
            sum += rng.uniform();
        }
        return static_cast<float>(sum - 6);
    };
    Weights inner;
    for (float &share : inner.head1_filter) {
        share = 0.1f + 0.4f * static_cast<float>(rng.uniform());
    }
    for (float &value : inner.head2_filter) {
        value = kSchedulePart * draw();
    }
    for (float &value : inner.head2_bias) {
        value = kScheduleBias * draw();
    }
    for (size_t i = 0; i < inner.conv1_filter.size(); i++) {
        inner.conv1_filter[i] = (i / kTerms < kHead1 ? kAlgorithmFilter : kScheduleFilter) * draw();
    }
    for (size_t c = 0; c < kTerms; c++) {
        inner.conv1_bias[c] = means_[c] / sizes_[c];
    }
    return inner;
}

Weights Coordinates::to_plain(const Weights &inner) const {
    Weights plain = standardizer_.from_standardized(inner);
    for (size_t i = 0; i < inner.head1_filter.size(); i++) {
        const float share = inner.head1_filter[i];
        plain.head1_filter[i] = std::log(share / (1 - share));
        plain.head1_bias[i % kHead1] -= share * counts_[i / kHead1];
    }
    for (size_t i = 0; i < inner.conv1_filter.size(); i++) {
        plain.conv1_filter[i] *= sizes_[i % kTerms] * embedding_scale(i / kTerms);
    }
    for (size_t c = 0; c < kTerms; c++) {
        plain.conv1_bias[c] *= sizes_[c];
    }
    return plain;
}

Weights Coordinates::from_plain(const Weights &weights) const {
    Weights inner = standardizer_.to_standardized(weights);
    for (float &value : inner.head1_filter) {
        value = 1 / (1 + std::exp(-value));
    }
    keep_inside(inner);
    for (size_t i = 0; i < inner.head1_filter.size(); i++) {
        inner.head1_bias[i % kHead1] += inner.head1_filter[i] * counts_[i / kHead1];
    }
    for (size_t i = 0; i < inner.conv1_filter.size(); i++) {
        inner.conv1_filter[i] /= sizes_[i % kTerms] * embedding_scale(i / kTerms);
    }
    for (size_t c = 0; c < kTerms; c++) {
        inner.conv1_bias[c] /= sizes_[c];
    }
    return inner;
}

Weights Coordinates::gradient(const Weights &inner, const Weights &plain_gradient) const {
    Weights result = standardizer_.gradient_to_standardized(plain_gradient);
    for (size_t i = 0; i < inner.head1_filter.size(); i++) {
        // The slope of the logistic function is cancelled.
        const float share = inner.head1_filter[i];
        result.head1_filter[i] = plain_gradient.head1_filter[i] / (share * (1 - share)) -
                                 counts_[i / kHead1] * plain_gradient.head1_bias[i % kHead1];
    }
    for (size_t i = 0; i < inner.conv1_filter.size(); i++) {
        result.conv1_filter[i] *= sizes_[i % kTerms] * embedding_scale(i / kTerms);
    }
    for (size_t c = 0; c < kTerms; c++) {
        result.conv1_bias[c] *= sizes_[c];
    }
    return result;
}

void Coordinates::keep_inside(Weights &inner) {
    for (float &share : inner.head1_filter) {
        share = std::min(std::max(share, kSmallestShareOfCount), 1 - kSmallestShareOfCount);
    }
}

}  // namespace anderson2021
