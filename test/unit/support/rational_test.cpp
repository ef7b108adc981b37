#include <gtest/gtest.h>

#include "support/rational.h"

namespace anderson2021 {
namespace {

Rational sum(Rational a, const Rational &b) {
    a += b;
    return a;
}

void expect_parts(const Rational &r, int n, int d) {
    EXPECT_EQ(r.n, n);
    EXPECT_EQ(r.d, d);
}

TEST(Rational, SumOfEqualDenominatorsIsNotReduced) {
    expect_parts(sum({1, 4}, {1, 4}), 2, 4);
}

TEST(Rational, SumOfDifferentDenominatorsIsReduced) {
    expect_parts(sum({1, 2}, {1, 6}), 2, 3);
    expect_parts(sum({1, 3}, {2, 3}), 3, 3);
    expect_parts(sum({1, 3}, {1, 5}), 8, 15);
}

TEST(Rational, SumIsUnknownIfDenominatorsShareNoBit) {
    EXPECT_FALSE(sum({1, 1}, {1, 2}).exists());
    EXPECT_FALSE(sum({0, 1}, {1, 2}).exists());
    EXPECT_FALSE(sum({1, 2}, {1, 4}).exists());
    EXPECT_TRUE(sum({1, 1}, {1, 3}).exists());
    // The bits of -2 and 2 meet in two's complement.
    EXPECT_TRUE(sum({1, -2}, {1, 2}).exists());
    EXPECT_FALSE(sum({1, -2}, {1, 1}).exists());
}

TEST(Rational, SumWithUnknownIsUnknown) {
    EXPECT_FALSE(sum(Rational::unknown(), {1, 1}).exists());
    EXPECT_FALSE(sum({0, 1}, Rational::unknown()).exists());
}

TEST(Rational, ZeroAbsorbsUnknown) {
    EXPECT_TRUE((Rational{0, 1} * Rational::unknown()).is(0));
    EXPECT_TRUE((Rational::unknown() * Rational{0, 3}).is(0));
    EXPECT_FALSE((Rational::unknown() * Rational{2, 1}).exists());
    EXPECT_FALSE((Rational::unknown() * int64_t{0}).exists());
}

TEST(Rational, ProductsAreNotReduced) {
    expect_parts(Rational{2, 3} * Rational{3, 4}, 6, 12);
    expect_parts(Rational{1, 4} * int64_t{4}, 4, 4);
    expect_parts(Rational{0, 7} * int64_t{4}, 0, 7);
}

TEST(Rational, EqualityComparesValues) {
    EXPECT_TRUE((Rational{2, 4} == Rational{1, 2}));
    EXPECT_TRUE((Rational{1, -2} == Rational{-1, 2}));
    EXPECT_TRUE(Rational::unknown() == Rational::unknown());
    EXPECT_FALSE((Rational::unknown() == Rational{0, 1}));
    EXPECT_TRUE((Rational{6, 3}.is(2)));
    EXPECT_TRUE((Rational{-4, -4}.is(1)));
    EXPECT_FALSE((Rational{1, 2}.is(0)));
    EXPECT_FALSE(Rational::unknown().is(0));
}

}  // namespace
}  // namespace anderson2021
