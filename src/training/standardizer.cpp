#include "training/standardizer.h"

#include <algorithm>
#include <cmath>

namespace anderson2021 {

namespace {

constexpr size_t kWidth = kHead2Width, kChannels = kHead2Channels, kL = kLanes;
// Inputs that hardly vary are not blown up, nor are small differences of similar ones.
constexpr double kSmallestDeviation = 0.1;
constexpr double kOwnShare = 0.005;

using Matrix = std::vector<std::array<double, kWidth>>;

Matrix identity() {
    Matrix result(kWidth);
    for (size_t i = 0; i < kWidth; i++) {
        result[i].fill(0);
        result[i][i] = 1;
    }
    return result;
}

// Lower triangular factor of a symmetric positive definite matrix.
Matrix cholesky(const Matrix &matrix) {
    Matrix factor(kWidth);
    for (size_t i = 0; i < kWidth; i++) {
        factor[i].fill(0);
        for (size_t j = 0; j <= i; j++) {
            double sum = matrix[i][j];
            for (size_t k = 0; k < j; k++) {
                sum -= factor[i][k] * factor[j][k];
            }
            factor[i][j] = i == j ? std::sqrt(sum) : sum / factor[j][j];
        }
    }
    return factor;
}

Matrix inverse_of_lower(const Matrix &lower) {
    Matrix result = identity();
    for (size_t column = 0; column < kWidth; column++) {
        for (size_t i = column; i < kWidth; i++) {
            double sum = i == column ? 1 : 0;
            for (size_t k = column; k < i; k++) {
                sum -= lower[i][k] * result[k][column];
            }
            result[i][column] = sum / lower[i][i];
        }
    }
    return result;
}

// Sums over rows: of inputs, and of products of two.
struct Moments {
    std::array<double, kWidth> sums{};
    Matrix products = Matrix(kWidth, std::array<double, kWidth>{});
    double rows = 0;

    void add(const Unit &unit) {
        for (size_t w = 0; w < static_cast<size_t>(unit.num_stages()); w++) {
            const float *inputs = unit.inputs.data() + w * kWidth * kL;
            for (size_t i = 0; i < kWidth; i++) {
                for (size_t lane = 0; lane < kL; lane++) {
                    sums[i] += static_cast<double>(inputs[i * kL + lane]);
                }
                for (size_t j = 0; j <= i; j++) {
                    float sum = 0;
                    for (size_t lane = 0; lane < kL; lane++) {
                        sum += inputs[i * kL + lane] * inputs[j * kL + lane];
                    }
                    products[i][j] += static_cast<double>(sum);
                }
            }
            rows += kL;
        }
    }
};

std::vector<const Unit *> units_of(const std::vector<Batch> &batches) {
    std::vector<const Unit *> units;
    for (const Batch &batch : batches) {
        for (const Unit &unit : batch.units) {
            units.push_back(&unit);
        }
    }
    return units;
}

}  // namespace

Standardizer::Standardizer() : map_(identity()), inverse_(identity()) {}

Standardizer::Standardizer(const std::vector<Batch> &batches) : Standardizer(units_of(batches)) {}

Standardizer::Standardizer(const std::vector<const Unit *> &units) : Standardizer() {
    Moments moments;
    for (const Unit *unit : units) {
        moments.add(*unit);
    }
    if (moments.rows == 0) {
        return;
    }
    std::array<double, kWidth> deviations{};
    Matrix covariance(kWidth, std::array<double, kWidth>{});
    for (size_t i = 0; i < kWidth; i++) {
        mean_[i] = moments.sums[i] / moments.rows;
        for (size_t j = 0; j <= i; j++) {
            covariance[i][j] = moments.products[i][j] / moments.rows - mean_[i] * mean_[j];
        }
        deviations[i] =
            std::sqrt(std::max(covariance[i][i], kSmallestDeviation * kSmallestDeviation));
    }
    // Correlations, with a share that every input keeps to itself.
    for (size_t i = 0; i < kWidth; i++) {
        for (size_t j = 0; j < i; j++) {
            covariance[i][j] /= deviations[i] * deviations[j];
            covariance[i][j] *= 1 - kOwnShare;
        }
        covariance[i][i] = 1;
    }
    inverse_ = cholesky(covariance);
    map_ = inverse_of_lower(inverse_);
    for (size_t i = 0; i < kWidth; i++) {
        for (size_t j = 0; j <= i; j++) {
            inverse_[i][j] *= deviations[i];
            map_[i][j] /= deviations[j];
        }
    }
}

void Standardizer::apply(Unit &unit) const {
    std::vector<double> centred(kWidth * kL);
    for (size_t w = 0; w < static_cast<size_t>(unit.num_stages()); w++) {
        float *inputs = unit.inputs.data() + w * kWidth * kL;
        for (size_t i = 0; i < kWidth * kL; i++) {
            centred[i] = static_cast<double>(inputs[i]) - mean_[i / kL];
        }
        for (size_t i = 0; i < kWidth; i++) {
            std::array<double, kL> sums{};
            for (size_t j = 0; j <= i; j++) {
                for (size_t lane = 0; lane < kL; lane++) {
                    sums[lane] += map_[i][j] * centred[j * kL + lane];
                }
            }
            for (size_t lane = 0; lane < kL; lane++) {
                inputs[i * kL + lane] = static_cast<float>(sums[lane]);
            }
        }
    }
}

void Standardizer::apply(std::vector<Batch> &batches, ThreadPool &pool) const {
    pool.parallel_for(static_cast<int64_t>(batches.size()), [&](int64_t i) {
        for (Unit &unit : batches[static_cast<size_t>(i)].units) {
            apply(unit);
        }
    });
}

// filter' mapped + bias' = filter input + bias, with input = inverse_ mapped + mean_.
Weights Standardizer::to_standardized(const Weights &weights) const {
    Weights result = weights;
    for (size_t k = 0; k < kChannels; k++) {
        auto bias = static_cast<double>(weights.head2_bias[k]);
        for (size_t j = 0; j < kWidth; j++) {
            double sum = 0;
            for (size_t i = j; i < kWidth; i++) {
                sum +=
                    static_cast<double>(weights.head2_filter[i * kChannels + k]) * inverse_[i][j];
            }
            result.head2_filter[j * kChannels + k] = static_cast<float>(sum);
            bias += static_cast<double>(weights.head2_filter[j * kChannels + k]) * mean_[j];
        }
        result.head2_bias[k] = static_cast<float>(bias);
    }
    return result;
}

Weights Standardizer::from_standardized(const Weights &weights) const {
    Weights result = weights;
    for (size_t k = 0; k < kChannels; k++) {
        auto bias = static_cast<double>(weights.head2_bias[k]);
        for (size_t j = 0; j < kWidth; j++) {
            double sum = 0;
            for (size_t i = j; i < kWidth; i++) {
                sum += static_cast<double>(weights.head2_filter[i * kChannels + k]) * map_[i][j];
            }
            result.head2_filter[j * kChannels + k] = static_cast<float>(sum);
            bias -= sum * mean_[j];
        }
        result.head2_bias[k] = static_cast<float>(bias);
    }
    return result;
}

// The filter is map_ transposed times the standardized one, and takes the mean out of the bias.
Weights Standardizer::gradient_to_standardized(const Weights &gradient) const {
    Weights result = gradient;
    for (size_t k = 0; k < kChannels; k++) {
        const auto bias = static_cast<double>(gradient.head2_bias[k]);
        for (size_t i = 0; i < kWidth; i++) {
            double sum = 0;
            for (size_t j = 0; j <= i; j++) {
                const auto slope = static_cast<double>(gradient.head2_filter[j * kChannels + k]);
                sum += map_[i][j] * (slope - mean_[j] * bias);
            }
            result.head2_filter[i * kChannels + k] = static_cast<float>(sum);
        }
    }
    return result;
}

}  // namespace anderson2021
