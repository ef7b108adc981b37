#include <gtest/gtest.h>

#include "featurizer/feature_cache.h"
#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

std::shared_ptr<const BlockFeatures> features_with(double working_set) {
    auto features = std::make_shared<BlockFeatures>();
    features->working_set = working_set;
    return features;
}

class FeatureCacheTest : public testing::Test {
protected:
    LoopNestPtr block(int vector_dim) const {
        const LoopNestPtr root = fixture_.editor().make_root();
        return fixture_.editor().place(0, vector_dim, *root, false)[0];
    }

    FeaturizerFixture fixture_{mat_mul_graph()};
};

TEST_F(FeatureCacheTest, FindsEqualBlocksInEqualSurroundings) {
    FeatureCache cache(1 << 20);
    EXPECT_EQ(cache.find(make_block_key(block(0), {1, 0})), nullptr);
    cache.insert(make_block_key(block(0), {1, 0}), features_with(5));
    // Another object, the same tree.
    const auto found = cache.find(make_block_key(block(0), {1, 0}));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->working_set, 5);
    EXPECT_EQ(cache.find(make_block_key(block(0), {1, 1})), nullptr);
    EXPECT_EQ(cache.find(make_block_key(block(0), {})), nullptr);
    EXPECT_EQ(cache.find(make_block_key(block(1), {1, 0})), nullptr);
}

TEST_F(FeatureCacheTest, CollidingHashesDoNotMatter) {
    FeatureCache cache(1 << 20);
    BlockKey a = make_block_key(block(0), {1, 0});
    BlockKey b = make_block_key(block(1), {1, 1});
    BlockKey c = make_block_key(block(0), {7});
    a.hash = b.hash = c.hash = 42;
    cache.insert(a, features_with(1));
    cache.insert(b, features_with(2));
    ASSERT_NE(cache.find(a), nullptr);
    ASSERT_NE(cache.find(b), nullptr);
    EXPECT_EQ(cache.find(a)->working_set, 1);
    EXPECT_EQ(cache.find(b)->working_set, 2);
    EXPECT_EQ(cache.find(c), nullptr);
}

TEST_F(FeatureCacheTest, TheFirstEntryStays) {
    FeatureCache cache(1 << 20);
    cache.insert(make_block_key(block(0), {}), features_with(1));
    cache.insert(make_block_key(block(0), {}), features_with(2));
    EXPECT_EQ(cache.find(make_block_key(block(0), {}))->working_set, 1);
}

TEST_F(FeatureCacheTest, ForgetsWhenFull) {
    // Room for a few entries per shard.
    FeatureCache cache(64 * 4096);
    const LoopNestPtr b = block(0);
    constexpr int kEntries = 5000;
    for (int i = 0; i < kEntries; i++) {
        cache.insert(make_block_key(b, {i}), features_with(i));
    }
    int known = 0;
    for (int i = 0; i < kEntries; i++) {
        const auto found = cache.find(make_block_key(b, {i}));
        known += found != nullptr ? 1 : 0;
        if (found != nullptr) {
            EXPECT_EQ(found->working_set, i);
        }
    }
    EXPECT_GT(known, 0);
    EXPECT_LT(known, 64 * 8);
}

TEST(BlockFeatures, IdenticalMeansEveryBit) {
    BlockFeatures a;
    a.rows.push_back({1, 0, {}});
    a.inlined.resize(1);
    BlockFeatures b = a;
    EXPECT_TRUE(identical(a, b));
    b.rows[0].features.expr_branching = 1;
    EXPECT_FALSE(identical(a, b));
    b = a;
    b.inlined[0].warps = 3;
    EXPECT_FALSE(identical(a, b));
    b = a;
    b.working_set = 8;
    EXPECT_FALSE(identical(a, b));
    b = a;
    b.rows.push_back({2, 0, {}});
    EXPECT_FALSE(identical(a, b));
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
