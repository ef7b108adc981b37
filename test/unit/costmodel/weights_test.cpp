#include <gtest/gtest.h>

#include "costmodel/weights.h"
#include "synthetic.h"

namespace anderson2021 {
namespace {

using test::kSyntheticSeed;

TEST(Weights, HaveTheSizesOfTheNetwork) {
    size_t total = 0;
    const Weights weights;
    for (const auto *buffer : weights.buffers()) {
        total += buffer->size();
    }
    EXPECT_EQ(total, 5080u);
    EXPECT_EQ(weights.head1_filter.size(), 2240u);
    EXPECT_EQ(weights.head2_filter.size(), 1752u);
    EXPECT_EQ(weights.conv1_filter.size(), 1024u);
}

TEST(Weights, RandomOnesFollowTheStandardGenerator) {
    const Weights first = Weights::random(1796033499);
    EXPECT_FLOAT_EQ(first.head1_filter[0], 0.06230032f);
    EXPECT_FLOAT_EQ(first.head1_filter[1], -0.46719602f);
    EXPECT_FLOAT_EQ(first.head1_filter[2], 0.29930341f);

    const Weights second = Weights::random(kSyntheticSeed);
    EXPECT_FLOAT_EQ(second.head1_filter[0], 0.19843507f);
    EXPECT_FLOAT_EQ(second.head1_bias[0], -0.23858753f);
    EXPECT_FLOAT_EQ(second.head2_filter[0], -0.16405925f);
    EXPECT_FLOAT_EQ(second.head2_bias[0], -0.0683403f);
    for (const auto *buffer : second.buffers()) {
        for (const float value : *buffer) {
            ASSERT_LE(std::abs(value), 0.5f);
        }
    }
}

TEST(Weights, ChecksumIsTheCrc32OfTheFile) {
    // As printed by `crc32` of what make_random_weights writes.
    EXPECT_EQ(Weights::random(kSyntheticSeed).checksum(), 0xea2e6fd5u);
    Weights changed = Weights::random(kSyntheticSeed);
    changed.conv1_bias[31] += 1.0f;
    EXPECT_NE(changed.checksum(), 0xea2e6fd5u);
}

TEST(Weights, BuiltInOnesAreBaselineWeights) {
    EXPECT_EQ(serialize_weights(builtin_weights()),
              test::file_content(std::string(ANDERSON_SOURCE_DIR) + "/baseline.weights"));
    EXPECT_EQ(&builtin_weights(), &builtin_weights());
}

}  // namespace
}  // namespace anderson2021
