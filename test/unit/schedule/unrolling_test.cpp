#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/unrolling.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

using Loops = std::vector<int>;

Loops listed(const BitSet &set) {
    Loops loops;
    set.for_each([&](int loop) { loops.push_back(loop); });
    return loops;
}

Loops unrolled_in_thread(const test::Pipeline &p, const LoopNest &root, int stage) {
    return listed(unrolled_loops(
        p.graph.stage(stage), *test::find_nest(root, stage, GpuAxis::Thread), GpuDevice()));
}

LoopNestPtr output_tiled(const test::Pipeline &p,
                         const std::vector<int64_t> &serial,
                         const std::vector<int64_t> &threads) {
    return p.tile_at_root(p.place_at_root(p.editor.make_root(), 0), 0, serial, threads);
}

TEST(UnrolledLoops, AllOrNothingAtTheLimit) {
    const test::Pipeline p(test::mat_mul_graph());
    EXPECT_EQ(unrolled_in_thread(p, *output_tiled(p, {2, 8}, {32, 1}), 0), (Loops{0, 1}));
    EXPECT_EQ(unrolled_in_thread(p, *output_tiled(p, {4, 8}, {32, 1}), 0), Loops());
}

TEST(UnrolledLoops, ReductionsStayRolledAndDoNotCount) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInBlock);
    EXPECT_EQ(unrolled_in_thread(p, *root, 2), (Loops{1, 2}));
}

TEST(UnrolledLoops, UnknownExtentsStayRolled) {
    // Without a split there is nothing that fixes the extents of an estimated region.
    test::GraphBuilder b;
    b.func("out", {"x", "y"}).output({4, 4}, /*bounded=*/false);
    const test::Pipeline q(b.build());
    const LoopNestPtr root = q.place_at_root(q.editor.make_root(), 0);
    EXPECT_EQ(listed(unrolled_loops(q.graph.stage(0), *root, GpuDevice())), Loops());
}

}  // namespace
}  // namespace anderson2021
