#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "space/inline_move.h"

namespace anderson2021 {
namespace {

using test::at;
using test::GraphBuilder;
using test::Pipeline;

TEST(CanInline, SingleStageFuncsThatAreNoOutputs) {
    const PipelineGraph graph = test::mat_mul_graph(64);
    EXPECT_FALSE(can_inline(graph.func(0)));  // output
    EXPECT_FALSE(can_inline(graph.func(1)));  // has an update
    EXPECT_FALSE(can_inline(graph.func(2)));  // input
    EXPECT_TRUE(can_inline(test::stencil_graph(64).func(1)));
    PipelineGraph with_extern = test::stencil_graph(64);
    with_extern.funcs[1].is_extern = true;
    EXPECT_FALSE(can_inline(with_extern.func(1)));
    PipelineGraph before_extern = test::stencil_graph(64);
    before_extern.funcs[1].feeds_extern = true;
    EXPECT_FALSE(can_inline(before_extern.func(1)));
    PipelineGraph with_buffer = test::stencil_graph(64);
    with_buffer.funcs[1].has_own_buffer = true;
    EXPECT_FALSE(can_inline(with_buffer.func(1)));
    PipelineGraph specialized = test::stencil_graph(64);
    specialized.funcs[1].stages[0].specialized.push_back({{0}, false});
    EXPECT_FALSE(can_inline(specialized.func(1)));
}

// out <- a <- b: a is pointwise with one reader; what its neighbours have to be.
PipelineGraph chain(bool reader_pointwise, bool producer_pointwise) {
    GraphBuilder g;
    g.func("out", {"x"}).output({64}).reads("a", {at("x")});
    if (reader_pointwise) {
        g.pointwise();
    }
    g.func("a", {"x"}).pointwise().reads("b", {at("x")});
    g.func("b", {"x"});
    if (producer_pointwise) {
        g.pointwise();
    }
    return g.build();
}

TEST(InliningDominates, OnlyAmongPointwiseNeighbours) {
    const auto dominates = [](const PipelineGraph &graph) {
        return inlining_dominates(graph, graph.func(1));
    };
    EXPECT_TRUE(dominates(chain(true, true)));
    EXPECT_FALSE(dominates(chain(false, true)));
    EXPECT_FALSE(dominates(chain(true, false)));
    PipelineGraph boundary = chain(false, true);
    boundary.funcs[0].is_boundary_condition = true;
    EXPECT_TRUE(dominates(boundary));
}

// An expensive leaf that a stencil reads often must not be inlined without a look at the rest.
TEST(InliningDominates, NotForALeafReadByAStencil) {
    const PipelineGraph graph = test::stencil_graph(64);
    ASSERT_TRUE(graph.func(2).is_pointwise);
    EXPECT_FALSE(inlining_dominates(graph, graph.func(2)));
}

TEST(InliningDominates, NotWithSeveralReaders) {
    GraphBuilder g;
    g.func("out", {"x"}).output({64}).pointwise().reads("a", {at("x")}).reads("b", {at("x")});
    g.func("a", {"x"}).pointwise().reads("b", {at("x")});
    g.func("b", {"x"}).pointwise();
    const PipelineGraph graph = g.build();
    EXPECT_TRUE(inlining_dominates(graph, graph.func(1)));
    EXPECT_FALSE(inlining_dominates(graph, graph.func(2)));
}

// h(x) = g(x), g(x) = f(x), f(x) = x * x.
PipelineGraph three_pointwise() {
    GraphBuilder g;
    g.func("h", {"x"}).output({64}).pointwise().reads("g", {at("x")});
    g.func("g", {"x"}).pointwise().reads("f", {at("x")});
    g.func("f", {"x"}).pointwise();
    return g.build();
}

TEST(AlwaysConsidered, PointwiseWithOneReader) {
    const Pipeline p(three_pointwise());
    const LoopNestPtr h = p.place_at_root(p.editor.make_root(), 0);
    EXPECT_TRUE(is_always_considered_for_inlining(p.graph, *h, p.graph.func(1)));
    EXPECT_FALSE(is_always_considered_for_inlining(p.graph, *h, p.graph.func(0)));
}

TEST(AlwaysConsidered, CountsReadersThroughInlinedFuncs) {
    GraphBuilder g;
    g.func("out", {"x"}).output({64}).pointwise().reads("a", {at("x")}).reads("b", {at("x")});
    g.func("a", {"x"}).pointwise().reads("c", {at("x")});
    g.func("b", {"x"}).pointwise().reads("c", {at("x")});
    g.func("c", {"x"}).pointwise();
    const Pipeline p(g.build());
    const LoopNestPtr out = p.place_at_root(p.editor.make_root(), 0);
    const LoopNestPtr both_inlined = p.editor.inline_func(p.editor.inline_func(out, 1), 2);
    EXPECT_TRUE(is_always_considered_for_inlining(p.graph, *both_inlined, p.graph.func(3)));
    const LoopNestPtr one_inlined = p.editor.inline_func(p.place_at_root(out, 1), 2);
    EXPECT_FALSE(is_always_considered_for_inlining(p.graph, *one_inlined, p.graph.func(3)));
}

TEST(AlwaysConsidered, TrivialFuncs) {
    PipelineGraph graph = test::stencil_graph(64);
    graph.funcs[1].is_trivial_to_inline = true;
    const Pipeline p(std::move(graph));
    const LoopNestPtr h = p.place_at_root(p.editor.make_root(), 0);
    EXPECT_TRUE(is_always_considered_for_inlining(p.graph, *h, p.graph.func(1)));
    const Pipeline plain(test::stencil_graph(64));
    EXPECT_FALSE(is_always_considered_for_inlining(plain.graph, *h, plain.graph.func(1)));
}

}  // namespace
}  // namespace anderson2021
