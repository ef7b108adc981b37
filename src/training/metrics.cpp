#include "training/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/error.h"

namespace anderson2021 {

namespace {

constexpr float kClearDifference = 1.3f;

std::vector<size_t> order_of(const std::vector<float> &values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(
        order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    return order;
}

std::vector<double> ranks_of(const std::vector<float> &values) {
    const std::vector<size_t> order = order_of(values);
    std::vector<double> ranks(values.size());
    for (size_t first = 0; first < order.size();) {
        size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) {
            end++;
        }
        for (size_t i = first; i < end; i++) {
            ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
        }
        first = end;
    }
    return ranks;
}

double mean_of(const std::vector<double> &values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double correlation(const std::vector<double> &a, const std::vector<double> &b) {
    const double mean_a = mean_of(a), mean_b = mean_of(b);
    double aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < a.size(); i++) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    if (bb == 0) {
        return 1;
    }
    return aa == 0 ? 0 : ab / std::sqrt(aa * bb);
}

double share_of_ordered_pairs(const std::vector<float> &predictions,
                              const std::vector<float> &runtimes) {
    int64_t pairs = 0, right = 0;
    for (size_t i = 0; i < runtimes.size(); i++) {
        for (size_t j = i + 1; j < runtimes.size(); j++) {
            if (runtimes[i] != runtimes[j]) {
                pairs++;
                const bool first_is_faster = runtimes[i] < runtimes[j];
                right += first_is_faster ? predictions[i] < predictions[j]
                                         : predictions[j] < predictions[i];
            }
        }
    }
    return pairs > 0 ? static_cast<double>(right) / static_cast<double>(pairs) : 1;
}

double r_squared(const std::vector<float> &predictions, const std::vector<float> &runtimes) {
    std::vector<double> logs, errors;
    for (size_t i = 0; i < runtimes.size(); i++) {
        const auto prediction = static_cast<double>(std::max(predictions[i], 1e-10f));
        logs.push_back(std::log(static_cast<double>(runtimes[i])));
        errors.push_back(logs.back() - std::log(prediction));
    }
    const double mean = mean_of(logs);
    double total = 0, residual = 0;
    for (size_t i = 0; i < logs.size(); i++) {
        total += (logs[i] - mean) * (logs[i] - mean);
        residual += errors[i] * errors[i];
    }
    return total > 0 ? 1 - residual / total : 1;
}

}  // namespace

RankingQuality ranking_quality(const std::vector<float> &predictions,
                               const std::vector<float> &runtimes) {
    ANDERSON_CHECK(predictions.size() == runtimes.size());
    RankingQuality result;
    result.schedules = static_cast<int64_t>(runtimes.size());
    if (runtimes.empty()) {
        return result;
    }
    result.spearman = correlation(ranks_of(predictions), ranks_of(runtimes));
    result.ordered_pairs = share_of_ordered_pairs(predictions, runtimes);
    result.r_squared = r_squared(predictions, runtimes);
    const auto fastest = static_cast<double>(*std::min_element(runtimes.begin(), runtimes.end()));
    const std::vector<size_t> order = order_of(predictions);
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < std::min<size_t>(8, order.size()); i++) {
        best = std::min(best, static_cast<double>(runtimes[order[i]]));
        if (i == 0) {
            result.top1_regret = best / fastest - 1;
        }
    }
    result.top8_regret = best / fastest - 1;
    return result;
}

void OrderingRate::add(const std::vector<float> &predictions, const std::vector<float> &runtimes) {
    if (runtimes.empty()) {
        return;
    }
    const auto fastest =
        static_cast<size_t>(std::min_element(runtimes.begin(), runtimes.end()) - runtimes.begin());
    for (size_t i = 0; i < runtimes.size(); i++) {
        if (runtimes[i] > kClearDifference * runtimes[fastest]) {
            pairs++;
            right += predictions[i] >= predictions[fastest] ? 1 : 0;
        }
    }
}

double OrderingRate::value() const {
    return pairs > 0 ? static_cast<double>(right) / static_cast<double>(pairs)
                     : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace anderson2021
