#include <gtest/gtest.h>
#include <random>

#include "search/dropout.h"

namespace anderson2021 {
namespace {

TEST(Dropout, OffAtHundredPercentAndDrawsNothing) {
    const Dropout dropout(100, 13);
    EXPECT_FALSE(dropout.active());
    Rng rng(0), untouched(0);
    for (int i = 0; i < 100; i++) {
        EXPECT_FALSE(dropout.drops(50, rng));
    }
    EXPECT_EQ(rng.next(), untouched.next());
}

// One draw per candidate, compared modulo 100 with the 26th root of 1 %, that is, 83.8.
TEST(Dropout, FollowsTheGenerator) {
    const Dropout dropout(1, 13);
    Rng rng(5);
    std::mt19937 expected(5);
    int dropped = 0;
    for (int i = 0; i < 1000; i++) {
        const bool drops = dropout.drops(10, rng);
        EXPECT_EQ(drops, expected() % 100 >= 84) << i;
        dropped += drops ? 1 : 0;
    }
    EXPECT_GT(dropped, 100);
    EXPECT_LT(dropped, 220);
}

TEST(Dropout, ZeroPercentDropsAllButTheLastTwo) {
    const Dropout dropout(0, 3);
    Rng rng(1), untouched(1);
    EXPECT_TRUE(dropout.drops(2, rng));
    untouched.next();
    EXPECT_FALSE(dropout.drops(1, rng));
    EXPECT_FALSE(dropout.drops(0, rng));
    EXPECT_EQ(rng.next(), untouched.next());
}

}  // namespace
}  // namespace anderson2021
