#include <gtest/gtest.h>

#include "featurizer/outside_layout.h"
#include "featurizer_fixtures.h"
#include "graph_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace test {
namespace {

class OutsideLayoutTest : public testing::Test {
protected:
    /// The root with all Funcs in `funcs` placed there, vector dimension `vector_dim`, untiled.
    LoopNestPtr placed(const std::vector<std::string> &funcs, int vector_dim = 0) const {
        const LoopNestPtr root = fixture_.editor().make_root();
        std::vector<LoopNestPtr> children;
        for (const std::string &f : funcs) {
            for (const LoopNestPtr &n :
                 fixture_.editor().place(graph().find_func(f), vector_dim, *root, false)) {
                children.push_back(n);
            }
        }
        return fixture_.editor().with_children(*root, std::move(children));
    }
    OutsideLayout layout_of_first(const LoopNestPtr &root, const Sites *sites) const {
        return outside_layout(graph(), *root->children[0], RootPlacement(graph(), *root), sites);
    }
    const PipelineGraph &graph() const { return fixture_.graph(); }

    FeaturizerFixture fixture_{harris_graph()};
};

TEST_F(OutsideLayoutTest, PlacedProducersShowTheirVectorDimension) {
    const LoopNestPtr all = placed(
        {"output", "trace", "det", "Syy", "Iyy", "Sxy", "Ixy", "Iy", "Sxx", "Ixx", "Ix", "gray"},
        1);
    EXPECT_TRUE(RootPlacement(graph(), *all).follows_graph_order());
    // output reads trace (1) and det (2) and nothing else.
    EXPECT_EQ(layout_of_first(all, nullptr), (OutsideLayout{1, 1, 2, 1}));
    // gray reads the input alone.
    EXPECT_EQ(outside_layout(graph(), *all->children[11], RootPlacement(graph(), *all), nullptr),
              OutsideLayout{});
}

TEST_F(OutsideLayoutTest, FuncsBehindUnscheduledOnesCount) {
    const LoopNestPtr root = placed({"output", "trace"});
    const OutsideLayout layout = layout_of_first(root, nullptr);
    // trace is placed; det and, behind it, everything from Syy to gray is not.
    ASSERT_EQ(layout.size(), 22u);
    EXPECT_EQ(layout[0], 1);
    EXPECT_EQ(layout[1], 0);
    for (size_t i = 2; i < layout.size(); i += 2) {
        EXPECT_EQ(layout[i], static_cast<int32_t>(i / 2 + 1));
        EXPECT_LT(layout[i + 1], -1);
    }
}

TEST_F(OutsideLayoutTest, TreesWithGapsNeedTheGuesses) {
    const LoopNestPtr gap = placed({"output", "det"});
    EXPECT_FALSE(RootPlacement(graph(), *gap).follows_graph_order());
    EXPECT_THROW(layout_of_first(gap, nullptr), InternalError);
    const Sites sites(graph(), *gap, fixture_.device(), false);
    EXPECT_GT(layout_of_first(gap, &sites).size(), 4u);
}

TEST_F(OutsideLayoutTest, GuessesTellNestsApart) {
    const LoopNestPtr root = fixture_.tree("output 48 320 (0, 0) t gpu_block\n"
                                           " output 32 2 (0, 0) t gpu_thread\n"
                                           "  output 1 4 (0, 0) t gpu_serial\n"
                                           "   output 1v 1 (0, 0) * gpu_simd\n");
    const Sites sites(graph(), *root, fixture_.device(), false);
    const OutsideLayout layout = layout_of_first(root, &sites);
    // Func 1, trace: inside the block, at the level that is the serial one's or the thread's.
    ASSERT_GE(layout.size(), 4u);
    EXPECT_EQ(layout[0], 1);
    EXPECT_EQ(layout[2], 0) << "stage of the nest";
    EXPECT_EQ(layout[3], sites.place(sites.of(1).compute).depth);
    EXPECT_GT(layout[3], 0);
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
