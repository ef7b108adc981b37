#include <gtest/gtest.h>

#include "algorithm/access_jacobian.h"

namespace anderson2021 {
namespace {

TEST(AccessJacobian, ReadsZeroWithoutRowsOrColumns) {
    EXPECT_TRUE(AccessJacobian(0, 2, {}).at(0, 1).is(0));
    EXPECT_TRUE(AccessJacobian(2, 0, {}).at(1, 0).is(0));
    EXPECT_TRUE(AccessJacobian(0, 3, {}).all_exist());
}

TEST(AccessJacobian, ComparesShapeAndValues) {
    const AccessJacobian a(1, 2, {{1, 1}, {2, 4}});
    EXPECT_TRUE(a.same_entries(AccessJacobian(1, 2, {{1, 1}, {1, 2}}, 5)));
    EXPECT_FALSE(a.same_entries(AccessJacobian(2, 1, {{1, 1}, {1, 2}})));
    const AccessJacobian unknown(1, 2, {{1, 1}, {0, 0}});
    EXPECT_TRUE(unknown.same_entries(unknown));
    EXPECT_FALSE(a.same_entries(unknown));
    EXPECT_FALSE(unknown.all_exist());
}

TEST(AccessJacobian, ScalesColumns) {
    const AccessJacobian j(2, 2, {{1, 1}, {0, 1}, {1, 2}, {0, 0}}, 3);
    const AccessJacobian s = j.scaled({4, 5});
    EXPECT_TRUE(s.at(0, 0).is(4));
    EXPECT_TRUE(s.at(0, 1).is(0));
    EXPECT_TRUE(s.at(1, 0).is(2));
    EXPECT_FALSE(s.at(1, 1).exists());
    EXPECT_EQ(s.count(), 3);
}

TEST(AccessJacobian, ColumnIsZeroOnlyIfKnownToBe) {
    const AccessJacobian j(2, 3, {{0, 1}, {0, 1}, {1, 1}, {0, 5}, {0, 0}, {0, 1}});
    EXPECT_TRUE(j.column_is_zero(0));
    EXPECT_FALSE(j.column_is_zero(1));
    EXPECT_FALSE(j.column_is_zero(2));
}

// p(2x + y) through g(u, v) = p(u + 3v), read as g(y, 2x): p(y + 6x).
TEST(AccessJacobian, ProductLooksThroughAnInlinedFunc) {
    const AccessJacobian p_by_g(1, 2, {{1, 1}, {3, 1}}, 2);
    const AccessJacobian g_by_consumer(2, 2, {{0, 1}, {1, 1}, {2, 1}, {0, 1}}, 3);
    const AccessJacobian product = p_by_g * g_by_consumer;
    ASSERT_EQ(product.rows(), 1);
    ASSERT_EQ(product.cols(), 2);
    EXPECT_TRUE(product.at(0, 0).is(6));
    EXPECT_TRUE(product.at(0, 1).is(1));
    EXPECT_EQ(product.count(), 6);
}

// Sums start at 0/1, which shares no bit with an even denominator.
TEST(AccessJacobian, ProductMeetingAnEvenDenominatorIsUnknown) {
    const AccessJacobian half(1, 1, {{1, 2}});
    const AccessJacobian third(1, 1, {{1, 3}});
    const AccessJacobian identity(1, 1, {{1, 1}});
    EXPECT_FALSE((half * identity).at(0, 0).exists());
    EXPECT_EQ((third * identity).at(0, 0), (Rational{1, 3}));
}

TEST(AccessJacobian, ProductThroughAFuncWithoutLoopsIsZero) {
    const AccessJacobian p_by_g(2, 0, {});
    const AccessJacobian g_by_consumer(0, 3, {});
    const AccessJacobian product = p_by_g * g_by_consumer;
    EXPECT_EQ(product.rows(), 2);
    EXPECT_EQ(product.cols(), 3);
    EXPECT_TRUE(product.at(1, 2).is(0));
}

}  // namespace
}  // namespace anderson2021
