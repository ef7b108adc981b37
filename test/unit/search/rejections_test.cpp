#include <gtest/gtest.h>

#include "search/rejections.h"

namespace anderson2021 {
namespace {

TEST(RejectionTally, CountsPerRuleAndKeepsTheFirstExample) {
    RejectionTally tally;
    EXPECT_TRUE(tally.empty());
    EXPECT_EQ(tally.text(), "");
    tally.add({"shared-memory", 65536, 49152});
    tally.add({"recompute", 30, 10});
    tally.add({"shared-memory", 70000, 49152});
    ASSERT_EQ(tally.lines().size(), 2u);
    EXPECT_EQ(tally.lines()[0].count, 2);
    EXPECT_EQ(tally.text(),
              "shared-memory (2 times, e.g. 65536 against a limit of 49152), "
              "recompute (1 time, e.g. 30 against a limit of 10)");
}

TEST(RejectionTally, Adds) {
    RejectionTally a, b;
    a.add({"x", 1, 0}, 3);
    b.add({"x", 2, 0}, 4);
    b.add({"y", 2, 0});
    a.add(b);
    EXPECT_EQ(a.lines()[0].count, 7);
    EXPECT_EQ(a.lines()[0].example.value, 1);
    EXPECT_EQ(a.lines()[1].count, 1);
}

}  // namespace
}  // namespace anderson2021
