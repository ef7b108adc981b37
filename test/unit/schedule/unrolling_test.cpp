#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/unrolling.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

std::vector<bool> unrolled_in_thread(const test::Pipeline &p, const LoopNest &root, int stage) {
    return unrolled_loops(
        p.graph.stage(stage), *test::find_nest(root, stage, GpuAxis::Thread), GpuDevice());
}

LoopNestPtr output_tiled(const test::Pipeline &p,
                         const std::vector<int64_t> &serial,
                         const std::vector<int64_t> &threads) {
    return p.tile_at_root(p.place_at_root(p.editor.make_root(), 0), 0, serial, threads);
}

TEST(UnrolledLoops, AllOrNothingAtTheLimit) {
    const test::Pipeline p(test::mat_mul_graph());
    EXPECT_EQ(unrolled_in_thread(p, *output_tiled(p, {2, 8}, {32, 1}), 0),
              (std::vector<bool>{true, true}));
    EXPECT_EQ(unrolled_in_thread(p, *output_tiled(p, {4, 8}, {32, 1}), 0),
              (std::vector<bool>{false, false}));
}

TEST(UnrolledLoops, ReductionsStayRolledAndDoNotCount) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInBlock);
    EXPECT_EQ(unrolled_in_thread(p, *root, 2), (std::vector<bool>{false, true, true}));
}

TEST(UnrolledLoops, UnknownExtentsStayRolled) {
    // Without a split there is nothing that fixes the extents of an estimated region.
    test::GraphBuilder b;
    b.func("out", {"x", "y"}).output({4, 4}, /*bounded=*/false);
    const test::Pipeline q(b.build());
    const LoopNestPtr root = q.place_at_root(q.editor.make_root(), 0);
    EXPECT_EQ(unrolled_loops(q.graph.stage(0), *root, GpuDevice()),
              (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace anderson2021
