// The estimate of registers, and the rule that uses it.
#include <gtest/gtest.h>
#include <utility>

#include "pruning/register_pressure.h"
#include "tree_maker.h"

namespace anderson2021 {
namespace {

using test::at;
using test::GraphBuilder;
using test::structural_rule;
using test::TreeMaker;

const GpuDevice kDevice;

/// out(x, y) reads f over 3 x 3 points; f is computed at the root unless placed.
TreeMaker stencil() {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024});
    b.reads("f", {at("x", -1, 1), at("y", -1, 1)}, 9);
    b.func("f", {"x", "y"});
    return TreeMaker(b.build());
}

RegisterUse only_use(const TreeMaker &maker, const LoopNestPtr &task) {
    const std::vector<RegisterUse> uses = register_use(*task, maker.graph(), kDevice);
    EXPECT_EQ(uses.size(), 1u);
    return uses.at(0);
}

TEST(RegisterPressure, RowsAndPointsOfUnrolledCode) {
    const TreeMaker maker = stencil();
    const RegisterUse wide = only_use(maker, maker.tiled("out", {32, 4}, {8, 1}));
    EXPECT_EQ(wide.points, 8);
    EXPECT_EQ(wide.global_rows, 3);
    EXPECT_EQ(wide.reads, 72);
    EXPECT_FALSE(wide.repeats);
    EXPECT_EQ(wide.stored + wide.shared_rows + wide.gathers, 0);
    const RegisterUse tall = only_use(maker, maker.tiled("out", {32, 4}, {1, 8}));
    EXPECT_EQ(tall.global_rows, 10);
    EXPECT_GT(registers_needed(tall), registers_needed(wide));
}

TEST(RegisterPressure, LoopsThatDoNotUnrollRepeat) {
    const TreeMaker maker = stencil();
    const RegisterUse use = only_use(maker, maker.tiled("out", {32, 4}, {1, 17}));
    EXPECT_EQ(use.points, 1);
    EXPECT_EQ(use.global_rows, 3);
    EXPECT_TRUE(use.repeats);
}

TEST(RegisterPressure, SharedMemoryAndArraysOfTheThread) {
    const TreeMaker maker = stencil();
    const LoopNestPtr tiled = maker.tiled("out", {32, 4}, {1, 2});
    const auto use_of = [&](const LoopNestPtr &task, const char *func) {
        for (const RegisterUse &use : register_use(*task, maker.graph(), kDevice)) {
            if (maker.graph().stage(use.stage_id).func == maker.func(func)) {
                return use;
            }
        }
        return RegisterUse();
    };
    const RegisterUse shared = use_of(maker.with_placed(tiled, "f", false), "out");
    EXPECT_EQ(shared.shared_rows, 4);
    EXPECT_EQ(shared.global_rows, 0);
    EXPECT_EQ(shared.stored, 0);
    const RegisterUse own = use_of(
        maker.with_thread_level(tiled, maker.with_placed(tiled->children.front(), "f", true)),
        "out");
    EXPECT_EQ(own.stored, 3 * 4);
    EXPECT_EQ(own.shared_rows + own.global_rows, 0);
    EXPECT_EQ(own.reads, 18);
}

// Eight sums, and as many addresses, live on from one iteration to the next.
TEST(RegisterPressure, ReductionsRepeat) {
    const TreeMaker maker(test::mat_mul_graph());
    const auto registers = [&](int64_t points) {
        const LoopNestPtr root = maker.root_of({});
        std::vector<RegisterUse> uses;
        for (const LoopNestPtr &nest : maker.editor().place(maker.func("prod"), 0, *root, false)) {
            const LoopNestPtr outer =
                maker.editor().split(*nest, {1, points}, *root, {TileIs::Inner, false, true});
            const LoopNestPtr block =
                maker.editor().split(*outer, {32, 1}, *root, {TileIs::Inner, false, true});
            uses.push_back(only_use(maker, block));
        }
        EXPECT_TRUE(uses[0].repeats);  // the update comes first
        EXPECT_FALSE(uses[1].repeats);
        EXPECT_EQ(uses[0].points, points);
        return registers_needed(uses[0]);
    };
    EXPECT_LE(registers(4), kDevice.registers_per_thread);
    EXPECT_GT(registers(16), kDevice.registers_per_thread);
}

// The same reduction with a shared array in the kernel, whose size is a literal or not.
TEST(RegisterPressure, StridesOfArraysOfUnknownSizeStayInRegisters) {
    const auto use = [](bool exact) {
        GraphBuilder b;
        b.func("out", {"x", "y"}).output({1024, 1024}).reads("f", {at("x"), at("y", -1, 1)}, 3);
        b.func("f", {"x", "y"});
        PipelineGraph graph = b.build();
        graph.edges[0].bounds[1].max.exact = exact;
        const TreeMaker maker(std::move(graph));
        const LoopNestPtr task =
            maker.with_placed(maker.tiled("out", {32, 4}, {1, 17}), "f", false);
        for (const RegisterUse &u : register_use(*task, maker.graph(), kDevice)) {
            if (maker.graph().stage(u.stage_id).func == maker.func("out")) {
                return u;
            }
        }
        return RegisterUse();
    };
    EXPECT_EQ(use(true).open_extents, 0);
    EXPECT_EQ(use(false).open_extents, 1);
    EXPECT_TRUE(use(false).repeats);
    EXPECT_GT(registers_needed(use(false)), registers_needed(use(true)));
}

TEST(RegisterPressure, BodiesOfInlinedFuncsRead) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024}).reads("g", {at("x", 0, 1), at("y")}, 2);
    b.func("g", {"x", "y"}).reads("f", {at("x"), at("y", 0, 2)}, 3);
    b.func("f", {"x", "y"});
    const TreeMaker maker(b.build());
    const LoopNestPtr root = maker.root_of({maker.tiled("out", {32, 4}, {1, 4})});
    const RegisterUse before = only_use(maker, root->children.front());
    EXPECT_EQ(before.global_rows, 4);
    const LoopNestPtr inlined = maker.editor().inline_func(root, maker.func("g"));
    const RegisterUse after = only_use(maker, inlined->children.front());
    EXPECT_EQ(after.global_rows, 6);
    EXPECT_EQ(after.reads, 4 * 2 * 3);
}

TEST(RegisterPressure, RuleIsOffUnlessAskedFor) {
    const TreeMaker maker = stencil();
    const LoopNestPtr root = maker.root_of({maker.tiled("out", {32, 4}, {1, 16})});
    const int64_t needed = registers_needed(*root->children.front(), maker.graph(), kDevice);
    PruneContext context{maker.graph(), kDevice};
    const StructuralPruner &rule = structural_rule("registers");
    EXPECT_FALSE(rule.reject(*root, context));
    context.register_limit = needed;
    EXPECT_FALSE(rule.reject(*root, context));
    context.register_limit = needed - 1;
    const auto rejection = rule.reject(*root, context);
    ASSERT_TRUE(rejection);
    EXPECT_EQ(rejection->value, static_cast<double>(needed));
    EXPECT_EQ(rejection->limit, static_cast<double>(needed - 1));
}

}  // namespace
}  // namespace anderson2021
