#include <cmath>
#include <gtest/gtest.h>

#include "training/metrics.h"

namespace anderson2021 {
namespace {

TEST(RankingQuality, OfAPerfectPrediction) {
    const RankingQuality q = ranking_quality({1, 2, 3, 4}, {1, 2, 3, 4});
    EXPECT_EQ(q.schedules, 4);
    EXPECT_NEAR(q.spearman, 1, 1e-12);
    EXPECT_NEAR(q.ordered_pairs, 1, 1e-12);
    EXPECT_NEAR(q.r_squared, 1, 1e-12);
    EXPECT_EQ(q.top1_regret, 0);
    EXPECT_EQ(q.top8_regret, 0);
}

// By hand: the ranks 0 1 2 3 of the run times meet the ranks 1 0 3 2, so 1 - 6 * 4 / (4 * 15) =
// 0.6.
TEST(RankingQuality, OfANumericExample) {
    const RankingQuality q = ranking_quality({2, 1, 40, 3}, {1, 2, 4, 8});
    EXPECT_NEAR(q.spearman, 0.6, 1e-12);
    EXPECT_NEAR(q.ordered_pairs, 4.0 / 6, 1e-12);
    EXPECT_NEAR(q.top1_regret, 1, 1e-12);
    EXPECT_EQ(q.top8_regret, 0);
    EXPECT_LT(q.r_squared, 0);
}

TEST(RankingQuality, LooksAtEightChoices) {
    std::vector<float> predictions, runtimes;
    for (int i = 0; i < 12; i++) {
        predictions.push_back(static_cast<float>(i + 1));
        runtimes.push_back(static_cast<float>(12 - i));
    }
    const RankingQuality q = ranking_quality(predictions, runtimes);
    EXPECT_NEAR(q.spearman, -1, 1e-12);
    EXPECT_NEAR(q.top1_regret, 11, 1e-6);
    EXPECT_NEAR(q.top8_regret, 4, 1e-6);
}

TEST(RankingQuality, TiesShareTheirRank) {
    EXPECT_NEAR(ranking_quality({1, 1, 2}, {5, 5, 6}).spearman, 1, 1e-12);
    EXPECT_NEAR(ranking_quality({3, 3, 3}, {1, 2, 3}).spearman, 0, 1e-12);
    EXPECT_NEAR(ranking_quality({1, 2, 3}, {4, 4, 4}).spearman, 1, 1e-12);
}

TEST(OrderingRate, CountsOnlyClearDifferences) {
    OrderingRate rate;
    EXPECT_TRUE(std::isnan(rate.value()));
    rate.add({1, 0.5f, 2, 3}, {1, 1.2f, 1.4f, 5});
    EXPECT_EQ(rate.pairs, 2);
    EXPECT_EQ(rate.right, 2);
    rate.add({2, 1}, {1, 2});
    EXPECT_NEAR(rate.value(), 2.0 / 3, 1e-12);
}

}  // namespace
}  // namespace anderson2021
