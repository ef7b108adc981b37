// The recompute rule on features set by hand.
#include <gtest/gtest.h>

#include "tree_maker.h"

namespace anderson2021 {
namespace {

using test::at;
using test::GraphBuilder;
using test::TreeMaker;

// Stages 0 out, 1 f, 2 f.update(0), 3 g (a wrapper).
PipelineGraph four_stages() {
    GraphBuilder b;
    b.func("out", {"x"}).output({100}).reads("f", {at("x")}).reads("g", {at("x")});
    b.func("f", {"x"});
    b.update({{"r", 0, 9}}, {at("x")});
    b.func("g", {"x"}).wrapper();
    return b.build();
}

class Recompute : public ::testing::Test {
protected:
    Recompute() : maker_(four_stages()), features_(maker_.graph().num_stages()) {}

    void set(int stage, double total, double inlined, double minimum) {
        ScheduleFeatures &row = features_.get_or_create(stage);
        row.points_computed_total = total;
        row.inlined_calls = inlined;
        row.points_computed_minimum = minimum;
    }

    std::optional<Rejection> judge(const BitSet *exempt = nullptr) const {
        PruneContext context{maker_.graph(), device_};
        context.always_consider_inline = exempt;
        EXPECT_EQ(feature_pruners().size(), 1u);
        return feature_pruners().front()->reject(*maker_.root_of({}), features_, context);
    }

    TreeMaker maker_;
    GpuDevice device_;
    FeatureMatrix features_;
};

TEST_F(Recompute, TenTimesIsAllowed) {
    set(0, 100, 0, 100);
    set(1, 1000, 0, 100);
    EXPECT_FALSE(judge());
    set(1, 1001, 0, 100);
    const auto rejection = judge();
    ASSERT_TRUE(rejection);
    EXPECT_STREQ(rejection->rule, "recompute");
    EXPECT_EQ(rejection->value, 1001);
    EXPECT_EQ(rejection->limit, 1000);
}

TEST_F(Recompute, InlinedCallsCount) {
    set(1, 400, 600, 100);
    EXPECT_FALSE(judge());
    set(1, 400, 601, 100);
    EXPECT_TRUE(judge());
}

TEST_F(Recompute, EveryStageIsJudged) {
    set(1, 100, 0, 100);
    set(2, 10001, 0, 1000);
    EXPECT_TRUE(judge());
}

TEST_F(Recompute, WrappersAreExempt) {
    set(3, 1e9, 0, 1);
    EXPECT_FALSE(judge());
}

TEST_F(Recompute, FuncsAlwaysConsideredForInliningAreExempt) {
    set(1, 0, 5000, 100);
    BitSet exempt(maker_.graph().num_funcs());
    EXPECT_TRUE(judge(&exempt));
    exempt.insert(maker_.func("out"));
    EXPECT_TRUE(judge(&exempt));
    exempt.insert(maker_.func("f"));
    EXPECT_FALSE(judge(&exempt));
}

TEST_F(Recompute, StagesWithoutFeaturesAreSkipped) {
    EXPECT_FALSE(judge());
}

}  // namespace
}  // namespace anderson2021
