#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "support/rng.h"

namespace anderson2021 {
namespace {

TEST(Rng, SequenceIsThatOfTheStandardGenerator) {
    // The standard demands this value of the 10000th draw with seed 5489.
    Rng rng(5489);
    for (int i = 1; i < 10000; i++) {
        rng.next();
    }
    EXPECT_EQ(rng.next(), 4123659995u);
}

TEST(Rng, SeedIsTakenModulo32Bits) {
    EXPECT_EQ(Rng(7).next(), Rng((int64_t{1} << 32) + 7).next());
    EXPECT_EQ(Rng(-1).next(), Rng(0xffffffff).next());
    EXPECT_NE(Rng(0).next(), Rng(1).next());
}

TEST(Rng, BelowStaysBelowAndReachesAll) {
    Rng rng(1);
    std::vector<int> seen(6);
    for (int i = 0; i < 6000; i++) {
        const uint32_t v = rng.below(6);
        ASSERT_LT(v, 6u);
        seen[v]++;
    }
    for (const int count : seen) {
        EXPECT_GT(count, 850);
        EXPECT_LT(count, 1150);
    }
    EXPECT_EQ(rng.below(1), 0u);
    // A range just above half of all values: a plain remainder would favour small results 2 to 1.
    int small = 0;
    for (int i = 0; i < 4000; i++) {
        small += rng.below(0xc0000000u) < 0x40000000u;
    }
    EXPECT_GT(small, 1200);
    EXPECT_LT(small, 1470);
}

TEST(Rng, UniformIsInTheUnitInterval) {
    Rng rng(3);
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        const double u = rng.uniform();
        ASSERT_GE(u, 0);
        ASSERT_LT(u, 1);
        sum += u;
    }
    EXPECT_NEAR(sum / 1000, 0.5, 0.05);
}

std::vector<int> shuffled(int64_t seed, int n) {
    std::vector<int> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    Rng(seed).shuffle(values);
    return values;
}

TEST(Rng, ShuffleIsAPermutationAndRepeatable) {
    std::vector<int> values = shuffled(0, 100);
    EXPECT_EQ(values, shuffled(0, 100));
    EXPECT_NE(values, shuffled(1, 100));
    std::sort(values.begin(), values.end());
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(values[static_cast<size_t>(i)], i);
    }
    EXPECT_TRUE(shuffled(0, 0).empty());
}

TEST(Rng, ShuffleDrawsFromTheBack) {
    // With seed 5489 the first draws are 3499211612, 581869302, 3890346734.
    // 4 elements: swap 3 with 3499211612 % 4 = 0, 2 with 581869302 % 3 = 0, 1 with ... % 2 = 0.
    EXPECT_EQ(shuffled(5489, 4), (std::vector<int>{1, 2, 3, 0}));
}

TEST(Rng, EveryPermutationIsEquallyLikely) {
    std::vector<int> count(27);
    Rng rng(11);
    for (int i = 0; i < 6000; i++) {
        std::vector<int> v = {0, 1, 2};
        rng.shuffle(v);
        count[static_cast<size_t>(9 * v[0] + 3 * v[1] + v[2])]++;
    }
    int permutations = 0;
    for (const int c : count) {
        if (c > 0) {
            permutations++;
            EXPECT_GT(c, 850);
            EXPECT_LT(c, 1150);
        }
    }
    EXPECT_EQ(permutations, 6);
}

}  // namespace
}  // namespace anderson2021
