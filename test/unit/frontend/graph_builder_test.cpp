#include <chrono>
#include <gtest/gtest.h>

#include "algorithm/graph_dump.h"
#include "built_graph.h"
#include "frontend/graph_builder.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of the pipelines
using test::Built;
using test::estimate;
using test::image;
using test::matrix_text;
using test::nonzero_features;

const Var x("x"), y("y"), c("c");

// out(x, y) = prod(x, y), prod(x, y) += A(x, r) * B(r, y) over 1024 r, out bounded to 1024 x 1024.
struct MatMul {
    ImageParam a = image(Float(32), "A", {1024, 1024});
    ImageParam b = image(Float(32), "B", {1024, 1024});
    Func prod{"prod"}, out{"out"};
    RDom r{0, 1024};

    MatMul() {
        prod(x, y) = 0.0f;
        prod(x, y) += a(x, r) * b(r, y);
        out(x, y) = prod(x, y);
        out.bound(x, 0, 1024).bound(y, 0, 1024);
        estimate(out, {1024, 1024});
    }
};

TEST(MatMulGraph, FuncsAndFlags) {
    MatMul m;
    const Built b({m.out});
    const PipelineGraph &g = b.graph();
    ASSERT_EQ(g.num_funcs(), 4);
    EXPECT_EQ(g.num_stages(), 5);
    EXPECT_EQ(g.num_non_input_funcs(), 2);
    EXPECT_EQ(g.func(0).name, m.out.name());
    EXPECT_EQ(g.func(1).name, m.prod.name());
    EXPECT_EQ(g.func(2).name.substr(0, 4), "B_im");
    EXPECT_EQ(g.func(3).name.substr(0, 4), "A_im");
    for (int i = 0; i < 4; i++) {
        const FuncNode &f = g.func(i);
        EXPECT_EQ(f.is_output, i == 0);
        EXPECT_EQ(f.is_input, i >= 2);
        EXPECT_EQ(f.is_wrapper, i != 1);
        EXPECT_EQ(f.is_pointwise, i != 1);
        EXPECT_FALSE(f.is_boundary_condition);
        EXPECT_FALSE(f.is_extern);
        EXPECT_EQ(f.bytes_per_point, 4);
        EXPECT_EQ(f.dims(), 2);
        EXPECT_EQ(b.functions()[static_cast<size_t>(i)].name(), f.name);
    }
    EXPECT_EQ(g.stage(2).name, m.prod.name() + ".update(0)");
    EXPECT_EQ(g.record_order(), (std::vector<int>{0, 2, 1}));
    const std::vector<Span> whole = {{0, 1023, true, true}, {0, 1023, true, true}};
    EXPECT_EQ(g.func(0).estimate, whole);
    EXPECT_TRUE(g.func(1).estimate.empty());
}

TEST(MatMulGraph, LoopsOfTheUpdate) {
    MatMul m;
    const Built b({m.out});
    const std::vector<LoopDim> &loops = b.stage(m.prod, 1).loops;
    ASSERT_EQ(loops.size(), 3u);
    EXPECT_TRUE(loops[0].rvar);
    EXPECT_FALSE(loops[0].pure);
    EXPECT_EQ(loops[0].pure_dim, -1);
    EXPECT_EQ(loops[0].source, LoopDim::Source::Constant);
    EXPECT_EQ(loops[0].constant_span, (Span{0, 1023, true, true}));
    EXPECT_EQ(loops[1].var, "x");
    EXPECT_EQ(loops[2].var, "y");
    for (const int j : {0, 1}) {
        const LoopDim &loop = loops[static_cast<size_t>(1 + j)];
        EXPECT_TRUE(loop.pure);
        EXPECT_FALSE(loop.rvar);
        EXPECT_EQ(loop.pure_dim, j);
        EXPECT_EQ(loop.dims_index, 1 + j);
        EXPECT_EQ(loop.source, LoopDim::Source::ComputedDim);
        EXPECT_EQ(loop.computed_dim, j);
    }
}

void expect_end(const BoundExpr &e, int loop, bool uses_max) {
    EXPECT_EQ(e.kind, BoundExpr::Kind::Affine);
    EXPECT_EQ(e.span, loop);
    EXPECT_EQ(e.uses_max, uses_max);
    EXPECT_EQ(e.coeff, 1);
    EXPECT_EQ(e.add, 0);
    EXPECT_TRUE(e.exact);
}

void expect_whole_loop(const EdgeBound &b, int loop) {
    expect_end(b.min, loop, false);
    expect_end(b.max, loop, true);
}

TEST(MatMulGraph, Edges) {
    MatMul m;
    const Built b({m.out});
    const PipelineGraph &g = b.graph();
    ASSERT_EQ(g.edges.size(), 3u);
    const Edge &prod_out = b.edge(m.prod, m.out);
    expect_whole_loop(prod_out.bounds[0], 0);
    expect_whole_loop(prod_out.bounds[1], 1);
    EXPECT_EQ(prod_out.calls, 1);
    ASSERT_EQ(prod_out.load_jacobians.size(), 1u);
    EXPECT_EQ(matrix_text(prod_out.load_jacobians[0]), "1 0; 0 1");

    const Edge &a_prod = g.edge(g.stage(2).incoming_edges.at(0));
    EXPECT_EQ(a_prod.producer, 3);
    expect_whole_loop(a_prod.bounds[0], 1);
    expect_whole_loop(a_prod.bounds[1], 0);
    ASSERT_EQ(a_prod.load_jacobians.size(), 1u);
    EXPECT_EQ(matrix_text(a_prod.load_jacobians[0]), "0 1 0; 1 0 0");
    EXPECT_EQ(a_prod.load_jacobians[0].count(), 1);

    const Edge &b_prod = g.edge(g.stage(2).incoming_edges.at(1));
    EXPECT_EQ(b_prod.producer, 2);
    EXPECT_EQ(b_prod.calls, 1);
    expect_whole_loop(b_prod.bounds[0], 0);
    expect_whole_loop(b_prod.bounds[1], 2);
    EXPECT_EQ(matrix_text(b_prod.load_jacobians[0]), "1 0 0; 0 0 1");
    EXPECT_EQ(matrix_text(*g.stage(2).store_jacobian), "0 1 0; 0 0 1");
    EXPECT_EQ(matrix_text(*g.stage(0).store_jacobian), "1 0; 0 1");
}

TEST(MatMulGraph, FeaturesOfEveryRecord) {
    MatMul m;
    const Built b({m.out});
    using Features = std::map<size_t, int>;
    // Types in use (3 UInt32, 5 Float), operations, then accesses.
    EXPECT_EQ(nonzero_features(b.stage(m.out)),
              (Features{{3, 1},
                        {5, 1},
                        {24, 4},
                        {152, 1},
                        {180, 1},
                        {201, 1},
                        {208, 1},
                        {229, 1},
                        {236, 1},
                        {257, 1},
                        {264, 1},
                        {285, 1}}));
    EXPECT_EQ(nonzero_features(b.stage(m.prod, 1)),
              (Features{{3, 1}, {5, 1}, {24, 8}, {40, 1}, {61, 1}, {152, 2}, {159, 1}}));
    EXPECT_EQ(nonzero_features(b.stage(m.prod, 0)),
              (Features{{3, 1}, {5, 1}, {12, 1}, {24, 2}, {201, 1}, {229, 1}, {257, 1}, {285, 1}}));
}

// Compat: the update's own tree would need 3 values, but the pure definition decides.
TEST(MatMulGraph, Branching) {
    MatMul m;
    const Built b({m.out});
    for (int f = 0; f < 2; f++) {
        EXPECT_EQ(expression_branching(b.graph().branching, f, [](int) { return false; }), 2);
    }
}

TEST(GraphBuilder, OrdersFuncsFromOutputsToInputs) {
    Func f("f"), g("g"), h("h");
    f(x) = x * x;
    g(x) = f(x - 1) + f(x) + f(x + 1);
    h(x) = g(x) + f(x);
    estimate(h, {64});
    const Built b({h});
    EXPECT_EQ(b.node(h).id, 0);
    EXPECT_EQ(b.node(g).id, 1);
    EXPECT_EQ(b.node(f).id, 2);
    // Sorted by producer name at the reader, by reader at the producer.
    const std::vector<int> &outgoing = b.node(f).outgoing_edges;
    ASSERT_EQ(outgoing.size(), 2u);
    EXPECT_EQ(b.graph().edge(outgoing[0]).consumer_func, b.node(h).id);
    EXPECT_EQ(b.graph().edge(outgoing[1]).consumer_func, b.node(g).id);
    EXPECT_EQ(b.edge(f, g).calls, 3);
    EXPECT_TRUE(b.stage(h).upstream.contains(b.node(f).id));
}

TEST(GraphBuilder, WrappersOfConcreteBuffersAreInputs) {
    Buffer<float> buffer(64, 64);
    Func wrapper("wrapper"), shifted("shifted"), out("out");
    wrapper(x, y) = buffer(x, y);
    shifted(x, y) = buffer(x, y) * 2.0f;
    out(x, y) = wrapper(x, y) + shifted(x + 1, y);
    estimate(out, {60, 60});
    const Built b({out});
    EXPECT_TRUE(b.node(wrapper).is_input);
    EXPECT_TRUE(b.node(wrapper).is_wrapper);
    EXPECT_FALSE(b.node(shifted).is_input);
    // Reads no Func, so its coordinates do not matter.
    EXPECT_TRUE(b.node(shifted).is_pointwise);
    EXPECT_FALSE(b.node(out).is_pointwise);
    EXPECT_TRUE(b.stage(shifted).reads_input);
    EXPECT_EQ(test::ops(b.stage(shifted), OpClass::ImageCall, ScalarClass::Float), 1);
}

TEST(GraphBuilder, UpdatesRuleOutInputAndPointwise) {
    Buffer<float> buffer(64);
    Func f("f"), out("out");
    f(x) = buffer(x);
    f(0) = 1.0f;
    out(x) = f(x);
    estimate(out, {60});
    const Built b({out});
    EXPECT_TRUE(b.node(f).is_wrapper);
    EXPECT_FALSE(b.node(f).is_input);
    EXPECT_FALSE(b.node(f).is_pointwise);
    EXPECT_TRUE(b.stage(f, 1).loops.empty());
}

TEST(GraphBuilder, RecognisesBoundaryConditionsByName) {
    ImageParam in = image(Float(32), "in", {64, 64});
    Func clamped = BoundaryConditions::repeat_edge(in);
    Func out("out");
    out(x, y) = clamped(x - 1, y);
    estimate(out, {64, 64});
    const Built b({out});
    EXPECT_TRUE(b.node(clamped).is_boundary_condition);
    EXPECT_FALSE(b.node(out).is_boundary_condition);
}

TEST(GraphBuilder, KnowsTrivialBodies) {
    Func constant("constant"), costly("costly"), reduced("reduced"), out("out");
    ImageParam in = image(Float(32), "in", {64, 64});
    constant(x, y) = 1.5f;
    costly(x, y) = sin(in(x, y)) * exp(in(x, y)) + in(x + 1, y) * in(x + 2, y);
    reduced(x, y) = 0.0f;
    reduced(x, y) += in(x, y);
    out(x, y) = constant(x, y) + costly(x, y) + reduced(x, y);
    estimate(out, {60, 60});
    const Built b({out});
    EXPECT_TRUE(b.node(constant).is_trivial_to_inline);
    EXPECT_FALSE(b.node(costly).is_trivial_to_inline);
    EXPECT_FALSE(b.node(reduced).is_trivial_to_inline);
}

TEST(GraphBuilder, SumsBytesOverTupleElements) {
    Func t("t"), out("out");
    t(x) = Tuple(cast<double>(x), cast<uint8_t>(x), x > 3);
    out(x) = select(t(x)[2], cast<float>(t(x)[0]), cast<float>(t(x)[1]));
    estimate(out, {64});
    const Built b({out});
    EXPECT_EQ(b.node(t).bytes_per_point, 8 + 1 + 1);
    EXPECT_EQ(b.node(out).bytes_per_point, 4);
}

TEST(GraphBuilder, ExternStagesReadTheirOwnCoordinatesByAssumption) {
    Func f("f"), row("row"), g("g"), out("out");
    f(x, y) = x + y;
    row(x) = x;
    g.define_extern("process", {f, row, f, Expr(3)}, Int(32), {x, y});
    out(x, y) = g(x, y) + f(x, y);
    estimate(out, {64, 32});
    const Built b({out});
    EXPECT_TRUE(b.node(g).is_extern);
    EXPECT_FALSE(b.node(g).feeds_extern);
    EXPECT_TRUE(b.node(f).feeds_extern);
    EXPECT_TRUE(b.node(row).feeds_extern);
    EXPECT_FALSE(b.node(g).is_pointwise);
    EXPECT_EQ(b.edge(f, g).calls, 2);
    const Span loops[] = {{3, 10, true}, {5, 6, true}};
    EXPECT_EQ(b.edge(f, g).bounds[1].min.evaluate(loops), 5);
    EXPECT_EQ(b.edge(row, g).bounds[0].max.evaluate(loops), 10);
    EXPECT_FALSE(b.edge(row, g).bounds[0].max.exact);
}

TEST(GraphBuilder, KeepsTheUsersLoopOrder) {
    Func f("f"), out("out");
    f(x, y, c) = x + y * c;
    f.reorder(c, y, x);
    out(x, y) = f(x, y, 0);
    estimate(out, {64, 64});
    const Built b({out});
    const std::vector<LoopDim> &loops = b.stage(f).loops;
    ASSERT_EQ(loops.size(), 3u);
    EXPECT_EQ(loops[0].var, "c");
    EXPECT_EQ(loops[0].pure_dim, 2);
    EXPECT_EQ(loops[0].dims_index, 0);
    EXPECT_EQ(loops[2].var, "x");
    EXPECT_EQ(matrix_text(*b.stage(f).store_jacobian), "0 0 1; 0 1 0; 1 0 0");
}

TEST(GraphBuilder, RaceFreeReductionVariablesArePure) {
    Func f("f"), out("out");
    f(x) = cast<float>(x);
    const RDom r(0, 32);
    f(r * 2) += 1.0f;
    f(0) += f(r);
    out(x) = f(x);
    estimate(out, {64});
    const Built b({out});
    EXPECT_TRUE(b.stage(f, 1).loops.at(0).pure);
    EXPECT_TRUE(b.stage(f, 1).loops.at(0).rvar);
    EXPECT_FALSE(b.stage(f, 2).loops.at(0).pure);
    EXPECT_TRUE(b.stage(f, 1).has_reduction());
}

TEST(GraphBuilder, MarksEveryOutput) {
    Func f("f"), a("a"), b_("b");
    f(x) = x * x;
    a(x) = f(x) + 1;
    b_(x) = a(x) + f(x + 1);
    estimate(a, {64});
    estimate(b_, {32});
    const Built b({a, b_});
    EXPECT_TRUE(b.node(a).is_output);
    EXPECT_TRUE(b.node(b_).is_output);
    EXPECT_FALSE(b.node(f).is_output);
    EXPECT_EQ(b.node(a).estimate.at(0).max, 63);
    EXPECT_TRUE(b.has_edge(a, b_));
}

TEST(GraphBuilder, WorksForTargetsWithoutGpu) {
    Func f("f"), g("g"), h("h");
    f(x, y) = (x + y) * (x + y);
    g(x, y) = f(x, y) * 2 + 1;
    h(x, y) = g(x, y) * 2 + 1;
    estimate(h, {1000, 1000});
    const Built cpu({h}, Target("x86-64-linux-sse41-avx-avx2"));
    EXPECT_EQ(graph_dump(cpu.graph()), graph_dump(Built({h}).graph()));
    EXPECT_EQ(matrix_text(cpu.edge(f, g).load_jacobians.at(0)), "1 0; 0 1");
}

TEST(GraphBuilder, LeavesThePipelineAlone) {
    MatMul m;
    const std::string first = graph_dump(Built({m.out}).graph());
    EXPECT_EQ(graph_dump(Built({m.out}).graph()), first);
    EXPECT_FALSE(m.prod.function().schedule().compute_level().locked());
    EXPECT_TRUE(m.prod.function().update(0).schedule().splits().empty());
    // Still free to be scheduled.
    m.prod.compute_root().update().unroll(m.r, 2);
    EXPECT_NO_THROW(m.out.compile_to_module({m.a, m.b}, "mat_mul", Target("x86-64-linux")));
}

TEST(GraphBuilder, GrowsLinearlyWithThePipeline) {
    constexpr int kFuncs = 400;
    ImageParam in = image(Float(32), "in", {1024, 1024});
    Func last = BoundaryConditions::repeat_edge(in);
    for (int i = 0; i < kFuncs; i++) {
        Func next;
        next(x, y) = last(x, y) + last(x + 1, y) + last(x, y + 1);
        last = next;
    }
    estimate(last, {256, 256});
    const auto start = std::chrono::steady_clock::now();
    const Built b({last});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_GT(b.graph().num_funcs(), kFuncs);
    // Takes some 20 ms; the limit leaves room for slow machines and sanitizers only.
    EXPECT_LT(elapsed.count(), 5.0);
}

}  // namespace
}  // namespace anderson2021
