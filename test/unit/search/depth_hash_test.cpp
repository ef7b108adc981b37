#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "search/depth_hash.h"

namespace anderson2021 {
namespace {

using test::Pipeline;

// h of the stencil tiled into `blocks` x `threads`, with f inlined into g and g into h.
LoopNestPtr tiled(const Pipeline &p, const std::string &blocks, const std::string &threads) {
    return p.tree("h " + blocks + " (0, 0) gpu_block\n h " + threads +
                  " (0, 0) gpu_thread\n  h 1 (0, 0) gpu_serial\n   h 1 (0, 0) * gpu_simd\n");
}

TEST(DepthHash, DependsOnTheNumberOfDecisionsAlone) {
    const Pipeline p(test::stencil_graph(64));
    const LoopNestPtr a = tiled(p, "2", "32"), b = tiled(p, "4", "16");
    EXPECT_EQ(depth_hash(*a, 2, -1), depth_hash(*b, 2, -1));
    EXPECT_NE(depth_hash(*a, 2, -1), depth_hash(*a, 3, -1));
}

TEST(DepthHash, DepthZeroSeesWhatIsAtTheRoot) {
    const Pipeline p(test::stencil_graph(64));
    const LoopNestPtr empty = p.editor.make_root();
    const LoopNestPtr h = p.place_at_root(empty, 0);
    const LoopNestPtr hg = p.place_at_root(h, 1);
    EXPECT_NE(depth_hash(*h, 2, 0), depth_hash(*empty, 2, 0));
    EXPECT_NE(depth_hash(*h, 2, 0), depth_hash(*hg, 2, 0));
    EXPECT_EQ(depth_hash(*tiled(p, "2", "32"), 2, 0), depth_hash(*tiled(p, "1", "64"), 2, 0));
}

// Whether g is fused into h or inlined is seen at once, where it is fused only later.
TEST(DepthHash, DepthZeroSeesWhatHasLoopsOfItsOwn) {
    const Pipeline p(test::stencil_graph(64));
    const LoopNestPtr h = tiled(p, "2", "32");
    const std::string in_block = "h 2 (0, 0) gpu_block\n g 32 (0, 0) gpu_thread\n"
                                 "  g 1 (0, 0) gpu_serial\n   g 1 (0, 0) * gpu_simd\n";
    const std::string rest = " h 32 (0, 0) gpu_thread\n  h 1 (0, 0) gpu_serial\n"
                             "   h 1 (0, 0) * gpu_simd\n";
    const LoopNestPtr fused = p.tree(in_block + rest);
    const LoopNestPtr in_thread =
        p.tree("h 2 (0, 0) gpu_block\n h 32 (0, 0) gpu_thread\n  g 1 (0, 0) gpu_serial\n"
               "   g 1 (0, 0) * gpu_simd\n  h 1 (0, 0) gpu_serial\n   h 1 (0, 0) * gpu_simd\n");
    EXPECT_NE(depth_hash(*h, 3, 0), depth_hash(*fused, 3, 0));
    EXPECT_EQ(depth_hash(*fused, 3, 0), depth_hash(*in_thread, 3, 0));
    EXPECT_NE(depth_hash(*fused, 3, 2), depth_hash(*in_thread, 3, 2));
}

TEST(DepthHash, DepthOneSeesWhichLoopsIterate) {
    const Pipeline p(test::stencil_graph(64));
    EXPECT_EQ(depth_hash(*tiled(p, "2", "32"), 2, 1), depth_hash(*tiled(p, "4", "16"), 2, 1));
    EXPECT_NE(depth_hash(*tiled(p, "2", "32"), 2, 1), depth_hash(*tiled(p, "1", "64"), 2, 1));
}

TEST(DepthHash, DepthTwoSeesSizes) {
    const Pipeline p(test::stencil_graph(64));
    EXPECT_NE(depth_hash(*tiled(p, "2", "32"), 2, 2), depth_hash(*tiled(p, "4", "16"), 2, 2));
}

TEST(DepthHash, EachTwoLevelsRevealAnother) {
    const Pipeline p(test::stencil_graph(64));
    const std::string block = "h 2 (0, 0) gpu_block\n";
    const LoopNestPtr plain = p.tree(block + " h 16 (0, 0) gpu_thread\n  h 2 (0, 0) gpu_serial\n"
                                             "   h 1 (0, 0) * gpu_simd\n");
    const LoopNestPtr wide = p.tree(block + " h 32 (0, 0) gpu_thread\n  h 1 (0, 0) gpu_serial\n"
                                            "   h 1 (0, 0) * gpu_simd\n");
    // Thread sizes differ, but both iterate: seen from depth 4 on.
    EXPECT_EQ(depth_hash(*plain, 2, 2), depth_hash(*wide, 2, 2));
    EXPECT_EQ(depth_hash(*plain, 2, 3), depth_hash(*wide, 2, 3));
    EXPECT_NE(depth_hash(*plain, 2, 4), depth_hash(*wide, 2, 4));
    // What is inlined into the leaf is seen once the leaf is visited.
    const LoopNestPtr inlined = p.editor.inline_func(plain, 1);
    EXPECT_EQ(depth_hash(*plain, 2, 7), depth_hash(*inlined, 2, 7));
    EXPECT_NE(depth_hash(*plain, 2, 8), depth_hash(*inlined, 2, 8));
}

TEST(FullHash, EqualTreesHaveEqualHashes) {
    const Pipeline p(test::stencil_graph(64));
    EXPECT_EQ(full_hash(*tiled(p, "2", "32")), full_hash(*tiled(p, "2", "32")));
    EXPECT_NE(full_hash(*tiled(p, "2", "32")), full_hash(*tiled(p, "4", "16")));
}

}  // namespace
}  // namespace anderson2021
