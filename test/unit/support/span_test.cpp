#include <gtest/gtest.h>

#include "support/bit_set.h"
#include "support/span.h"

namespace anderson2021 {
namespace {

TEST(Span, EmptyIsNeutralForUnion) {
    Span s = Span::empty();
    EXPECT_TRUE(s.is_empty());
    const Span t{3, 7, true, true};
    s.union_with(t);
    EXPECT_EQ(s, t);
    EXPECT_EQ(s.extent(), 5);
}

TEST(Span, UnionIsConstantOnlyIfBothAre) {
    Span s{0, 3, true, true};
    s.union_with({10, 11, false, true});
    EXPECT_EQ(s, (Span{0, 11, false, true}));
    Span t{0, 3, true, true};
    t.union_with({1, 2, true, false});
    EXPECT_EQ(t, (Span{0, 3, true, false}));
}

TEST(BitSet, ContainsWhatWasInserted) {
    BitSet a(130);
    EXPECT_TRUE(a.empty());
    a.insert(0);
    a.insert(129);
    EXPECT_TRUE(a.contains(0));
    EXPECT_TRUE(a.contains(129));
    EXPECT_FALSE(a.contains(64));
    EXPECT_FALSE(a.contains(1000));
    BitSet b(10);
    b.insert(a);
    EXPECT_TRUE(b.contains(129));
    EXPECT_FALSE(b.empty());
}

}  // namespace
}  // namespace anderson2021
