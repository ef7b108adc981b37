// Every structural rule at its boundary: a tree that it just passes, and one that it just rejects.
#include <gtest/gtest.h>
#include <string>

#include "tree_maker.h"

namespace anderson2021 {
namespace {

using test::at;
using test::Extents;
using test::GraphBuilder;
using test::structural_rule;
using test::TreeMaker;

const GpuDevice kV100;

/// Judges a tree of these tasks by one rule.
std::optional<Rejection> judge(const TreeMaker &maker,
                               const std::string &rule,
                               std::vector<LoopNestPtr> tasks,
                               const GpuDevice &device = kV100,
                               bool reference_features = false) {
    PruneContext context{maker.graph(), device};
    context.reference_features = reference_features;
    const auto rejection = structural_rule(rule).reject(*maker.root_of(std::move(tasks)), context);
    if (rejection) {
        EXPECT_EQ(rejection->rule, rule);
        EXPECT_GT(rejection->value, rejection->limit);
    }
    return rejection;
}

/// out(x, y, ...) without producers.
PipelineGraph lone_func(const Extents &extents) {
    static const char *const kArgs[] = {"x", "y", "z", "w"};
    GraphBuilder b;
    b.func("out", {kArgs, kArgs + extents.size()}).output(extents);
    return b.build();
}

/// out(x, y) = sum of f over a window of (1 + wx) x (1 + wy) points.
PipelineGraph window_graph(int64_t wx, int64_t wy, int64_t bytes, const Extents &extents) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output(extents).reads("f", {at("x", 0, wx), at("y", 0, wy)});
    b.func("f", {"x", "y"}).bytes_per_point(bytes);
    return b.build();
}

TEST(PruningRules, NamesAreUniqueAndInOrder) {
    std::vector<std::string> names;
    for (const auto &rule : structural_pruners()) {
        names.emplace_back(rule->name());
    }
    for (const auto &rule : feature_pruners()) {
        names.emplace_back(rule->name());
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"thread-extents",
                                        "grid-extents",
                                        "serial-extents",
                                        "shared-memory",
                                        "local-memory-constant",
                                        "local-memory",
                                        "unknown-sizes",
                                        "unrolled-code",
                                        "inlined-calls",
                                        "registers",
                                        "recompute"}));
}

TEST(PruningRules, UntiledTreesPassAll) {
    const TreeMaker maker(lone_func({1024, 1024}));
    const std::vector<LoopNestPtr> placed = maker.editor().place(0, 0, *maker.root_of({}), false);
    for (const auto &rule : structural_pruners()) {
        EXPECT_FALSE(judge(maker, rule->name(), placed)) << rule->name();
        EXPECT_FALSE(judge(maker, rule->name(), {})) << rule->name();
    }
}

TEST(PruningRules, EveryTaskIsJudged) {
    const TreeMaker maker(lone_func({1024, 1024}));
    const LoopNestPtr good = maker.tiled("out", {32, 32}, {1, 1});
    const LoopNestPtr bad = maker.tiled("out", {32, 33}, {1, 1});
    EXPECT_FALSE(judge(maker, "thread-extents", {good, good}));
    EXPECT_TRUE(judge(maker, "thread-extents", {good, bad}));
    EXPECT_TRUE(judge(maker, "thread-extents", {bad, good}));
}

TEST(ThreadExtents, Product) {
    const TreeMaker maker(lone_func({1024, 1024}));
    EXPECT_FALSE(judge(maker, "thread-extents", {maker.tiled("out", {64, 16}, {1, 1})}));
    const auto rejection = judge(maker, "thread-extents", {maker.tiled("out", {64, 17}, {1, 1})});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 64 * 17);
    EXPECT_EQ(rejection->limit, 1024);
}

TEST(ThreadExtents, NumberOfDimensions) {
    const TreeMaker maker(lone_func({64, 64, 64, 64}));
    const Extents one = {1, 1, 1, 1};
    EXPECT_FALSE(judge(maker, "thread-extents", {maker.tiled("out", {2, 2, 1, 2}, one)}));
    EXPECT_TRUE(judge(maker, "thread-extents", {maker.tiled("out", {2, 2, 2, 2}, one)}));
}

TEST(ThreadExtents, ThirdDimensionIsNarrow) {
    const TreeMaker maker(lone_func({64, 64, 128}));
    EXPECT_FALSE(judge(maker, "thread-extents", {maker.tiled("out", {2, 2, 64}, {1, 1, 1})}));
    const auto rejection =
        judge(maker, "thread-extents", {maker.tiled("out", {2, 2, 65}, {1, 1, 1})});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 65);
    EXPECT_EQ(rejection->limit, 64);
    // As the second dimension the same extent is fine.
    EXPECT_FALSE(judge(maker, "thread-extents", {maker.tiled("out", {2, 1, 65}, {1, 1, 1})}));
}

TEST(ThreadExtents, StagesComputedInTheBlock) {
    const TreeMaker maker(window_graph(0, 0, 4, {1024, 1024}));
    // f gets a thread for each of its points.
    const auto with_f = [&](const Extents &serial) {
        return maker.with_placed(maker.tiled("out", {64, 8}, serial), "f", false);
    };
    EXPECT_FALSE(judge(maker, "thread-extents", {with_f({1, 2})}));
    const auto rejection = judge(maker, "thread-extents", {with_f({1, 3})});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 64 * 24);
}

TEST(ThreadExtents, UnionOfWideAndTallStages) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024});
    b.reads("f", {at("x", 0, 32), test::constant(0, 0)});
    b.func("f", {"x", "y"});
    const TreeMaker maker(b.build());
    // out has 32 x 16 or 32 x 17 threads, f 64 x 1.
    const auto with_f = [&](int64_t rows) {
        return maker.with_placed(maker.tiled("out", {32, rows}, {1, 1}), "f", false);
    };
    EXPECT_FALSE(judge(maker, "thread-extents", {with_f(16)}));
    const auto rejection = judge(maker, "thread-extents", {with_f(17)});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 64 * 17);
}

TEST(ThreadExtents, DeviceLimit) {
    const TreeMaker maker(lone_func({1024}));
    GpuDevice small;
    small.max_threads_per_block = 256;
    EXPECT_FALSE(judge(maker, "thread-extents", {maker.tiled("out", {256}, {1})}, small));
    EXPECT_TRUE(judge(maker, "thread-extents", {maker.tiled("out", {257}, {1})}, small));
}

TEST(GridExtents, BlocksMustFitIntoGridX) {
    const int64_t limit = 2147483647;
    const TreeMaker most(lone_func({limit}));
    EXPECT_FALSE(judge(most, "grid-extents", {most.tiled("out", {1}, {1})}));
    const TreeMaker more(lone_func({limit + 1}));
    EXPECT_TRUE(judge(more, "grid-extents", {more.tiled("out", {1}, {1})}));
    EXPECT_FALSE(judge(more, "grid-extents", {more.tiled("out", {2}, {1})}));
}

TEST(GridExtents, LargeOuterDimensionsCanBeFused) {
    const TreeMaker maker(lone_func({64, 70000, 3}));
    EXPECT_FALSE(judge(maker, "grid-extents", {maker.tiled("out", {32, 1, 1}, {1, 1, 1})}));
    const TreeMaker huge(lone_func({40000, 70000}));
    EXPECT_TRUE(judge(huge, "grid-extents", {huge.tiled("out", {1, 1}, {1, 1})}));
    EXPECT_FALSE(judge(huge, "grid-extents", {huge.tiled("out", {2, 1}, {1, 1})}));
}

TEST(SharedMemory, RegionOfTheBlock) {
    // A block of 32 x 8 threads with 1 x 12 points each computes 128 x 96 floats: 48 KiB.
    const TreeMaker exact(window_graph(96, 0, 4, {1024, 960}));
    const auto in_block = [](const TreeMaker &m, const Extents &threads, const Extents &serial) {
        return m.with_placed(m.tiled("out", threads, serial), "f", false);
    };
    EXPECT_FALSE(judge(exact, "shared-memory", {in_block(exact, {32, 8}, {1, 12})}));
    const auto rejection = judge(exact, "shared-memory", {in_block(exact, {33, 8}, {1, 12})});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 129 * 96 * 4);
    EXPECT_EQ(rejection->limit, 48 * 1024);

    GpuDevice roomy;
    roomy.shared_bytes_per_block = 64 * 1024;
    EXPECT_FALSE(judge(exact, "shared-memory", {in_block(exact, {33, 8}, {1, 12})}, roomy));
}

TEST(SharedMemory, ScalarsAreFree) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({64, 64}).reads("s", {});
    b.func("s", {}).bytes_per_point(100000);
    const TreeMaker maker(b.build());
    const LoopNestPtr block = maker.with_placed(maker.tiled("out", {32, 8}, {1, 1}), "s", false);
    EXPECT_FALSE(judge(maker, "shared-memory", {block}));
}

TEST(SharedMemory, SerialLevelOutsideOfThreadsIsChargedForTheBlock) {
    // Blocks of out are one serial level of 4 x 4 points, without threads; f is stored in it.
    const TreeMaker maker(window_graph(0, 0, 1000, {64, 64}));
    const LoopNestPtr tiled = maker.tiled("out", {4, 4}, {1, 1});
    const LoopNestPtr thread = tiled->children.front();
    const LoopNestPtr serial = maker.editor().with_axis(*thread, GpuAxis::Serial);
    const LoopNestPtr block = maker.with_thread_level(tiled, maker.with_placed(serial, "f", false));
    GpuDevice small;
    small.shared_bytes_per_block = 16000;
    EXPECT_FALSE(judge(maker, "shared-memory", {block}, small));
    small.shared_bytes_per_block = 15999;
    EXPECT_TRUE(judge(maker, "shared-memory", {block}, small));
}

TEST(SharedMemory, FuncsInThreadsCountInReferenceModeOnly) {
    // 512 threads hold one point of 100 bytes each.
    const TreeMaker maker(window_graph(0, 0, 100, {1024, 1024}));
    const LoopNestPtr tiled = maker.tiled("out", {64, 8}, {1, 1});
    const LoopNestPtr block =
        maker.with_thread_level(tiled, maker.with_placed(tiled->children.front(), "f", true));
    EXPECT_FALSE(judge(maker, "shared-memory", {block}));
    const auto rejection = judge(maker, "shared-memory", {block}, kV100, true);
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 512 * 100);
}

/// f in the Thread level of out: one point per thread.
LoopNestPtr with_f_in_thread(const TreeMaker &maker) {
    const LoopNestPtr tiled = maker.tiled("out", {32, 1}, {1, 1});
    return maker.with_thread_level(tiled, maker.with_placed(tiled->children.front(), "f", true));
}

TEST(LocalMemoryConstant, ShareOfTheStack) {
    // trunc(0.95f * 103232) = 98070.
    const TreeMaker most(window_graph(0, 0, 98070, {1024, 1024}));
    EXPECT_FALSE(judge(most, "local-memory-constant", {with_f_in_thread(most)}));
    const TreeMaker more(window_graph(0, 0, 98071, {1024, 1024}));
    const auto rejection = judge(more, "local-memory-constant", {with_f_in_thread(more)});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->limit, 98070);
}

TEST(LocalMemoryConstant, OnlyThreadsCount) {
    const TreeMaker maker(window_graph(0, 0, 200000, {1024, 1024}));
    const LoopNestPtr block = maker.with_placed(maker.tiled("out", {32, 1}, {1, 1}), "f", false);
    EXPECT_FALSE(judge(maker, "local-memory-constant", {block}));
    EXPECT_FALSE(judge(maker, "local-memory", {block}));
}

TEST(LocalMemoryConstant, FuncInASerialLevelIsChargedOncePerLevelInReferenceModeOnly) {
    const TreeMaker maker(window_graph(0, 0, 60000, {1024, 1024}));
    const LoopNestPtr tiled = maker.tiled("out", {32, 1}, {1, 2});
    const LoopNestPtr thread = tiled->children.front();
    const LoopNestPtr serial = maker.with_placed(thread->children.front(), "f", true);
    const LoopNestPtr block =
        maker.with_thread_level(tiled, maker.editor().with_children(*thread, {serial}));
    EXPECT_FALSE(judge(maker, "local-memory-constant", {block}));
    // Once for the serial level, and twice the points at the Thread level.
    const auto rejection = judge(maker, "local-memory-constant", {block}, kV100, true);
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 3 * 60000);
}

/// As window_graph, but the size of f is not known at compile time.
PipelineGraph dynamic_graph(int64_t bytes) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024}).reads("f", {at("x"), at("y")});
    // A union with a constant interval inside of every region: no more points, just not constant.
    b.func("f", {"x", "y"}).bytes_per_point(bytes).computed_includes(0, 512, 512);
    return b.build();
}

TEST(LocalMemory, CountsAllocationsOfAnySize) {
    const TreeMaker most(dynamic_graph(524288));
    EXPECT_FALSE(judge(most, "local-memory", {with_f_in_thread(most)}));
    EXPECT_FALSE(judge(most, "local-memory-constant", {with_f_in_thread(most)}));
    const TreeMaker more(dynamic_graph(524289));
    EXPECT_TRUE(judge(more, "local-memory", {with_f_in_thread(more)}));
    EXPECT_FALSE(judge(more, "local-memory-constant", {with_f_in_thread(more)}));
    const TreeMaker constant(window_graph(0, 0, 524289, {1024, 1024}));
    EXPECT_TRUE(judge(constant, "local-memory", {with_f_in_thread(constant)}));
}

TEST(SerialExtents, AroundTheLeaf) {
    const TreeMaker maker(lone_func({1024, 1024}));
    EXPECT_FALSE(judge(maker, "serial-extents", {maker.tiled("out", {16, 1}, {4, 4})}));
    EXPECT_FALSE(judge(maker, "serial-extents", {maker.tiled("out", {16, 1}, {1, 16})}));
    const auto rejection = judge(maker, "serial-extents", {maker.tiled("out", {16, 1}, {1, 17})});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, 17);
    EXPECT_EQ(rejection->limit, 16);
}

TEST(SerialExtents, FurtherOut) {
    const TreeMaker maker(lone_func({1024, 1024}));
    // Thread / Serial (1 x outer) / Serial (1 x 2) / leaf.
    const auto two_levels = [&](int64_t outer) {
        const LoopNestPtr tiled = maker.tiled("out", {16, 1}, {1, 2 * outer});
        const LoopNestPtr thread = tiled->children.front();
        const LoopNestPtr serial = maker.editor().split(
            *thread->children.front(), {1, 2}, *thread, {TileIs::Inner, false, true});
        return maker.with_thread_level(tiled, maker.editor().with_children(*thread, {serial}));
    };
    EXPECT_FALSE(judge(maker, "serial-extents", {two_levels(64)}));
    const auto rejection = judge(maker, "serial-extents", {two_levels(65)});
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->limit, 64);
}

TEST(SerialExtents, UpdatesAreNotJudged) {
    const TreeMaker maker(test::mat_mul_graph());
    const LoopNestPtr root = maker.root_of({});
    const std::vector<LoopNestPtr> placed =
        maker.editor().place(maker.func("prod"), 0, *root, false);
    std::vector<LoopNestPtr> tasks;
    for (const LoopNestPtr &nest : placed) {
        // The update's serial level has 1024 iterations of r and 8 points.
        const LoopNestPtr outer =
            maker.editor().split(*nest, {1, 8}, *root, {TileIs::Inner, false, true});
        tasks.push_back(maker.editor().split(*outer, {32, 1}, *root, {TileIs::Inner, false, true}));
    }
    EXPECT_FALSE(judge(maker, "serial-extents", tasks));
}

TEST(SerialExtents, FuncsInsideASerialLevelAreJudgedToo) {
    // The leaf of out hangs directly below the serial level in which f is computed.
    const auto in_serial = [](const TreeMaker &maker) {
        const LoopNestPtr tiled = maker.tiled("out", {32, 1}, {1, 2});
        const LoopNestPtr thread = tiled->children.front();
        const LoopNestPtr serial = maker.with_placed(thread->children.front(), "f", true);
        return maker.with_thread_level(tiled, maker.editor().with_children(*thread, {serial}));
    };
    const TreeMaker most(window_graph(3, 3, 4, {1024, 1024}));
    EXPECT_FALSE(judge(most, "serial-extents", {in_serial(most)}));
    const TreeMaker more(window_graph(16, 0, 4, {1024, 1024}));
    EXPECT_TRUE(judge(more, "serial-extents", {in_serial(more)}));
}

TEST(SerialExtents, FuncsInsideAThreadLevel) {
    // A thread computes 1 x 4 points of out and 4 x 4 or 4 x 5 of f.
    const TreeMaker most(window_graph(3, 0, 4, {1024, 1024}));
    const TreeMaker more(window_graph(3, 1, 4, {1024, 1024}));
    for (const TreeMaker *maker : {&most, &more}) {
        const LoopNestPtr tiled = maker->tiled("out", {32, 1}, {1, 4});
        const LoopNestPtr block =
            maker->with_thread_level(tiled, maker->with_placed(tiled->children.front(), "f", true));
        EXPECT_EQ(judge(*maker, "serial-extents", {block}).has_value(), maker == &more);
    }
}

TEST(InlinedCalls, Limit) {
    for (const int64_t calls : {255, 256}) {
        GraphBuilder b;
        b.func("out", {"x"}).output({1024}).reads("f", {at("x")}, calls);
        b.func("f", {"x"});
        const TreeMaker maker(b.build());
        const LoopNestPtr root = maker.root_of({maker.tiled("out", {32}, {1})});
        const LoopNestPtr inlined = maker.editor().inline_func(root, maker.func("f"));
        EXPECT_EQ(judge(maker, "inlined-calls", inlined->children).has_value(), calls == 256);
    }
}

}  // namespace
}  // namespace anderson2021
