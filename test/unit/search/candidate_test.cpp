#include <gtest/gtest.h>

#include "search/candidate.h"

namespace anderson2021 {
namespace {

Candidate make(double rank, double cost, uint64_t hash, int64_t sequence) {
    Candidate c;
    c.rank = rank;
    c.cost = cost;
    c.hash = hash;
    c.sequence = sequence;
    return c;
}

TEST(CandidateQueue, PopsInOrderOfRankCostHashSequence) {
    CandidateQueue queue({make(2, 1, 0, 0),
                          make(1, 1, 5, 1),
                          make(1, 1, 5, 0),
                          make(1, 0.5, 9, 4),
                          make(1, 1, 4, 3)});
    EXPECT_EQ(queue.size(), 5u);
    EXPECT_EQ(queue.pop().cost, 0.5);
    EXPECT_EQ(queue.pop().hash, 4u);
    EXPECT_EQ(queue.pop().sequence, 0);
    EXPECT_EQ(queue.pop().sequence, 1);
    EXPECT_EQ(queue.top().rank, 2);
    queue.pop();
    EXPECT_TRUE(queue.empty());
}

TEST(CandidateQueue, TakesBackDeferredCandidates) {
    CandidateQueue queue({make(1, 1, 0, 0), make(2, 2, 0, 1)});
    Candidate first = queue.pop();
    first.rank = 3;
    queue.push(first);
    EXPECT_EQ(queue.pop().sequence, 1);
    EXPECT_EQ(queue.pop().sequence, 0);
}

TEST(Candidate, CheaperIgnoresRank) {
    EXPECT_TRUE(is_cheaper(make(9, 1, 0, 0), make(1, 2, 0, 0)));
    EXPECT_FALSE(is_cheaper(make(1, 2, 0, 0), make(9, 1, 0, 0)));
}

TEST(Candidate, IsASmallRecord) {
    EXPECT_LE(sizeof(Candidate), 64u);
}

}  // namespace
}  // namespace anderson2021
