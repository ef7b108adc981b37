#include <gtest/gtest.h>

#include "search/diversity.h"

namespace anderson2021 {
namespace {

TEST(Diversity, CountsLookAlikesPerStep) {
    const PermittedHashes none;
    Diversity diversity(0, none);
    EXPECT_EQ(diversity.look_alike_depth(), 1);
    EXPECT_EQ(diversity.permitted_depth(), -1);
    diversity.begin_step();
    EXPECT_EQ(diversity.penalty(1, 0), 1);
    EXPECT_EQ(diversity.penalty(2, 0), 1);
    EXPECT_EQ(diversity.penalty(1, 0), 2);
    EXPECT_EQ(diversity.penalty(1, 0), 3);
    diversity.begin_step();
    EXPECT_EQ(diversity.penalty(1, 0), 1);
}

TEST(Diversity, LaterPassesPutBackUnpermittedStructures) {
    const PermittedHashes permitted = {42};
    Diversity diversity(2, permitted);
    EXPECT_EQ(diversity.look_alike_depth(), 3);
    EXPECT_EQ(diversity.permitted_depth(), 1);
    EXPECT_EQ(diversity.penalty(1, 42), 1);
    EXPECT_EQ(diversity.penalty(2, 43), 11);
    EXPECT_EQ(diversity.penalty(1, 43), 12);
}

TEST(Diversity, RanksGrowWithThePenalty) {
    EXPECT_EQ(penalized_rank(2, 1), 2);
    EXPECT_EQ(penalized_rank(2, 3), 6);
    EXPECT_EQ(penalized_rank(0, 3), 0);
    // A negative prediction must not be made more attractive.
    EXPECT_EQ(penalized_rank(-2, 3), 2);
}

}  // namespace
}  // namespace anderson2021
