#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/schedule_text.h"
#include "schedule_fixtures.h"
#include "space/compute_at_move.h"

namespace anderson2021 {
namespace {

using test::at;
using test::GraphBuilder;
using test::Pipeline;

// Where the levels of `func` start, one letter per proposal: r(oot), b(lock), t(hread),
// s(erial level inside a thread).
std::string places(const std::vector<LoopNestPtr> &trees, int func) {
    std::string result;
    for (const LoopNestPtr &tree : trees) {
        const LoopNest *nest = tree.get();
        while (nest != nullptr) {
            bool here = false;
            const LoopNest *next = nullptr;
            for (const LoopNestPtr &child : nest->children) {
                here = here || child->func == func;
                if (child->computes(func)) {
                    next = child.get();
                }
            }
            if (here) {
                result += nest->is_root() ? 'r' : gpu_axis_name(nest->axis)[0];
                break;
            }
            nest = next;
        }
    }
    return result;
}

std::vector<LoopNestPtr> propose(const Pipeline &p,
                                 const LoopNestPtr &root,
                                 int func,
                                 const SpaceOptions &options = {},
                                 const GpuDevice &device = {}) {
    const ComputeAtMove move(p.editor, device, options, [&](int f, int dim) {
        return p.editor.place(f, dim, *p.editor.make_root(), false);
    });
    return move.propose(root, func, 0);
}

// h(x) over 1024 points reads g(x - 1), g(x), g(x + 1).
PipelineGraph stencil() {
    GraphBuilder b;
    b.func("h", {"x"}).output({1024}).reads("g", {at("x", -1, 1)}, 3);
    b.func("g", {"x"});
    return b.build();
}

LoopNestPtr tiled_h(const Pipeline &p, int64_t threads, int64_t serial) {
    return p.tile_at_root(p.place_at_root(p.editor.make_root(), 0), 0, {serial}, {threads});
}

TEST(ComputeAtMove, RootBlockThreadAndSerial) {
    const Pipeline p(stencil());
    // A block of 32 x 4 points needs 130 points of g, a thread 6, one point 3: every level shrinks
    // the region. In the block 9 serial points for 16 lanes, 5 for 32, 3 for 64.
    EXPECT_EQ(places(propose(p, tiled_h(p, 32, 4), 1), 1), "rbbbts");
    // One point per thread: the serial level needs what the thread needs.
    EXPECT_EQ(places(propose(p, tiled_h(p, 32, 1), 1), 1), "rbbbt");
}

TEST(ComputeAtMove, ThreadTilingsOfABlock) {
    const Pipeline p(stencil());
    std::vector<int64_t> threads;
    for (const LoopNestPtr &tree : propose(p, tiled_h(p, 32, 1), 1)) {
        const LoopNest &block = *tree->children[0];
        if (block.children.size() == 2) {
            const LoopNest &g = *block.children[1];
            EXPECT_EQ(g.axis, GpuAxis::Thread);
            EXPECT_EQ(g.children[0]->axis, GpuAxis::Serial);
            EXPECT_EQ(g.children[0]->size[0], (34 + g.size[0] - 1) / g.size[0]);
            threads.push_back(g.size[0]);
        }
    }
    EXPECT_EQ(threads, (std::vector<int64_t>{16, 32, 34}));
}

TEST(ComputeAtMove, OptionsSelectLevels) {
    const Pipeline p(stencil());
    const LoopNestPtr root = tiled_h(p, 32, 4);
    SpaceOptions options;
    options.compute_at_thread = false;
    EXPECT_EQ(places(propose(p, root, 1, options), 1), "rbbb");
    options.compute_at_thread = true;
    options.compute_at_block = false;
    EXPECT_EQ(places(propose(p, root, 1, options), 1), "rts");
    options.compute_root = false;
    EXPECT_EQ(places(propose(p, root, 1, options), 1), "ts");
    EXPECT_EQ(places(propose(p, root, 1, options.without_fusion()), 1), "");
    SpaceOptions one_level;
    one_level.one_level = true;
    EXPECT_EQ(places(propose(p, root, 1, one_level), 1), "rbbb");
}

TEST(ComputeAtMove, OutputsAndExternFuncsStayAtTheRoot) {
    const Pipeline p(stencil());
    SpaceOptions nothing;
    nothing.compute_root = nothing.compute_at_block = nothing.compute_at_thread = false;
    EXPECT_EQ(places(propose(p, p.editor.make_root(), 0, nothing), 0), "r");
    PipelineGraph graph = stencil();
    graph.funcs[1].is_extern = true;
    const Pipeline with_extern(std::move(graph));
    EXPECT_EQ(places(propose(with_extern, tiled_h(with_extern, 32, 4), 1), 1), "r");
}

TEST(ComputeAtMove, NotBelowSeveralReaders) {
    GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("a", {at("x")}).reads("g", {at("x")});
    b.func("a", {"x"}).reads("g", {at("x")});
    b.func("g", {"x"});
    const Pipeline p(b.build());
    const LoopNestPtr out = p.tile_at_root(p.place_at_root(p.editor.make_root(), 0), 0, {4}, {32});
    // Both readers at the root: g can only be there.
    const LoopNestPtr apart = p.tile_at_root(p.place_at_root(out, 1), 1, {4}, {32});
    EXPECT_EQ(places(propose(p, apart, 2), 2), "r");
    // a in the block of out: g can be there as well, but not deeper.
    const std::vector<LoopNestPtr> fused = propose(p, out, 1);
    ASSERT_EQ(places(fused, 1).substr(0, 2), "rb");
    EXPECT_EQ(places(propose(p, fused[1], 2), 2).find_first_not_of("rb"), std::string::npos);
    // a inlined: one reader again.
    EXPECT_NE(places(propose(p, p.editor.inline_func(out, 1), 2), 2).find('t'), std::string::npos);
}

TEST(ComputeAtMove, NotIntoALaunchOfOneTask) {
    GraphBuilder b;
    b.func("h", {"x"}).output({64}).reads("g", {at("x", -1, 1)}, 3);
    b.func("g", {"x"});
    const Pipeline p(b.build());
    const LoopNestPtr root = p.tile_at_root(p.place_at_root(p.editor.make_root(), 0), 0, {1}, {64});
    EXPECT_EQ(places(propose(p, root, 1), 1), "r");
    SpaceOptions one;
    one.parallelism = 1;
    // With a single multiprocessor that is no reason; but the block needs as many points of g as
    // the whole program, so only the thread is left, which is looked at through the block.
    EXPECT_EQ(places(propose(p, root, 1, one), 1), "r");
    const LoopNestPtr halves =
        p.tile_at_root(p.place_at_root(p.editor.make_root(), 0), 0, {1}, {32});
    EXPECT_EQ(places(propose(p, halves, 1, one), 1), "rbbbt");
}

// Levels without a block cannot hold threads.
TEST(ComputeAtMove, NotIntoAScalar) {
    GraphBuilder b;
    b.func("s", {}).output({}).reads("g", {test::constant(0, 0)});
    b.func("g", {"x"});
    const Pipeline p(b.build());
    SpaceOptions one;
    one.parallelism = 1;
    EXPECT_EQ(places(propose(p, p.place_at_root(p.editor.make_root(), 0), 1, one), 1), "r");
}

// Without a legal thread tiling the Func runs serially in the block. Here the threads that the
// block has already leave room for no more than 1 in x, and serial loops would be too long.
TEST(ComputeAtMove, SerialInTheBlockWithoutATiling) {
    const Pipeline p(stencil());
    GpuDevice tiny;
    tiny.max_threads_per_block = 8;
    bool found = false;
    for (const LoopNestPtr &tree : propose(p, tiled_h(p, 8, 4), 1, {}, tiny)) {
        const LoopNest &block = *tree->children[0];
        if (block.children.size() == 2) {
            EXPECT_EQ(block.children[1]->axis, GpuAxis::Serial);
            EXPECT_EQ(block.children[1]->size[0], 34);
            found = true;
        }
    }
    EXPECT_TRUE(found);
}

TEST(ComputeAtMove, LeavesTheTreeAlone) {
    const Pipeline p(stencil());
    const LoopNestPtr root = tiled_h(p, 32, 4);
    const std::string before = print_schedule(*root, p.graph);
    propose(p, root, 1);
    EXPECT_EQ(print_schedule(*root, p.graph), before);
}

}  // namespace
}  // namespace anderson2021
