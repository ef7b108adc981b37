#include <gtest/gtest.h>

#include "search/sampling.h"

namespace anderson2021 {
namespace {

TEST(Sampling, QuotaIsTheBinaryLogarithmButAtLeastOne) {
    const std::vector<size_t> expected = {0, 1, 1, 1, 2, 2, 2, 2, 3};
    for (size_t size = 0; size < expected.size(); size++) {
        EXPECT_EQ(sample_quota(size), expected[size]) << size;
    }
    EXPECT_EQ(sample_quota(1024), 10u);
    EXPECT_EQ(sample_quota(1023), 9u);
}

TEST(Sampling, BucketsKeepTheOrderOfFirstOccurrence) {
    Buckets buckets;
    buckets.add(900, 0);
    buckets.add(5, 1);
    buckets.add(900, 2);
    using Lists = std::vector<std::vector<size_t>>;
    EXPECT_EQ(buckets.all(), (Lists{{0, 2}, {1}}));
}

}  // namespace
}  // namespace anderson2021
