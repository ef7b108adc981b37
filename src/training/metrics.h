// How well predictions tell fast schedules from slow ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anderson2021 {

/// Predictions against run times of schedules of one pipeline.
struct RankingQuality {
    int64_t schedules = 0;
    /// Rank correlation; ties share their mean rank. 1 where all run times are equal.
    double spearman = 1;
    /// Share of pairs in the right order, of those whose run times differ.
    double ordered_pairs = 1;
    /// Coefficient of determination of the logarithms.
    double r_squared = 1;
    /// How much slower than the fastest schedule is the one (the best of the eight) that the
    /// predictions choose: 0 if it is the fastest.
    double top1_regret = 0, top8_regret = 0;
};

/// Both of the same size, values positive.
RankingQuality ranking_quality(const std::vector<float> &predictions,
                               const std::vector<float> &runtimes);

/// Counts pairs of a schedule with the fastest one, if they differ by more than 30 %: right if the
/// prediction does not put the schedule before the fastest one.
struct OrderingRate {
    int64_t pairs = 0, right = 0;
    void add(const std::vector<float> &predictions, const std::vector<float> &runtimes);
    /// NaN without pairs.
    double value() const;
};

}  // namespace anderson2021
