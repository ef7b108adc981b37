// Regions, loops and footprints of real pipelines, and what is known of them without estimates.
#include <gtest/gtest.h>

#include "built_graph.h"
#include "schedule/func_region.h"
#include "schedule/regions.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of the pipelines
using test::Built;
using test::estimate;
using test::image;

const Var x("x"), y("y"), i("i");

// Ranges only; the flags have tests of their own.
void expect_range(const Span &s, int64_t min, int64_t max) {
    EXPECT_EQ(s.min, min);
    EXPECT_EQ(s.max, max);
}

struct Histogram {
    ImageParam in = image(UInt(8), "in", {256, 256});
    Func hist{"hist"}, out{"out"};
    RDom r{0, 256, 0, 256};

    Histogram() {
        hist(i) = 0;
        hist(in(r.x, r.y)) += 1;
        out(i) = hist(i);
        estimate(out, {200});
    }
};

TEST(RegionComputed, OfAHistogramIncludesEveryBin) {
    Histogram h;
    const Built b({h.out});
    const FuncNode &f = b.node(h.hist);
    ASSERT_EQ(f.computed.size(), 1u);
    EXPECT_EQ(f.computed[0].kind, ComputedDim::Kind::UnionWithConstants);
    EXPECT_EQ(f.computed[0].union_min, 0);
    EXPECT_EQ(f.computed[0].union_max, 255);

    FuncRegion region(f);
    region.required(0) = Span{10, 20, true, true};
    region.derive_from_required();
    expect_range(region.computed(0), 0, 255);
    EXPECT_FALSE(region.computed(0).constant);
    expect_range(region.loop(0, 0), 0, 255);
    EXPECT_FALSE(region.loop(0, 0).constant);
    expect_range(region.loop(1, 0), 0, 255);
    EXPECT_TRUE(region.loop(1, 0).constant);
    expect_range(region.loop(1, 1), 0, 255);
    EXPECT_TRUE(region.loop(1, 1).constant);
}

// A value that is read at one place, whatever the loops do, is not known either.
TEST(RegionComputed, OfScattersToPlacesThatOneValueTells) {
    for (const int dims : {0, 1}) {
        const std::vector<int> extents(static_cast<size_t>(dims), 10);
        ImageParam in = image(Int(32), "in", extents), bytes = image(UInt(8), "bytes", extents);
        const std::vector<Expr> place(static_cast<size_t>(dims), Expr(3));
        Func hist("hist"), source("source"), out("out");
        source(i) = i * 2;
        hist(i) = 0;
        hist(clamp(in(place), 0, 63)) += 1;
        hist(bytes(place)) += 1;
        out(i) = hist(i) + source(clamp(in(place), 5, 90) + i);
        estimate(out, {20});
        const Built b({out});
        FuncRegion region(b.node(hist));
        region.required(0) = Span{10, 20, true, true};
        region.derive_from_required();
        expect_range(region.computed(0), 0, 255);
        FuncRegion output(b.node(out));
        output.required(0) = Span{10, 20, true, true};
        output.derive_from_required();
        Span read = Span::empty();
        expand_footprint(b.edge(source, out), output.loops(0), &read);
        expect_range(read, 15, 110);
    }
}

// One row more than required, and column 0 whatever is required.
TEST(RegionComputed, MayBeAnExpression) {
    Func f("f"), out("out");
    Param<int> column("column");
    column.set_estimate(70);
    f(x, y) = cast<float>(x);
    f(column, y) = 1.0f;
    out(x, y) = f(x, y);
    estimate(out, {64, 64});
    const Built b({out});
    const FuncNode &node = b.node(f);
    EXPECT_EQ(node.computed[1].kind, ComputedDim::Kind::EqualsRequired);
    // min(x.min, 70) and max(x.max, 70) once the estimate is in.
    EXPECT_EQ(node.computed[0].kind, ComputedDim::Kind::UnionWithConstants);
    FuncRegion region(node);
    region.required(0) = Span{10, 20, true, true};
    region.required(1) = Span{3, 4, true, true};
    region.derive_from_required();
    expect_range(region.computed(0), 10, 70);
    expect_range(region.computed(1), 3, 4);
    EXPECT_TRUE(region.computed(1).constant);
}

TEST(RegionComputed, DependsOnOtherDimensionsOnlyThroughExpressions) {
    Func f("f"), out("out");
    const RDom r(0, 10);
    f(x, y) = cast<float>(x);
    f(clamp(r * 2 + y, 0, y + 5), y) = 1.0f;
    out(x, y) = f(x, y);
    estimate(out, {64, 64});
    const Built b({out});
    const ComputedDim &dim = b.node(f).computed[0];
    ASSERT_EQ(dim.kind, ComputedDim::Kind::Expression);
    EXPECT_TRUE(dim.max_expr.exact);
    FuncRegion region(b.node(f));
    region.required(0) = Span{0, 9, true, true};
    region.required(1) = Span{40, 49, true, true};
    region.derive_from_required();
    // y + 5 is at most 54.
    expect_range(region.computed(0), 0, 54);
    EXPECT_FALSE(region.computed(0).constant);
}

// Required region at the root of the only other Func of a two-Func pipeline.
FuncRegion at_root(const Built &b, const Func &f) {
    const NestRegions root(b.graph());
    return root.of(b.node(f).id);
}

TEST(RootRegions, FollowTheAccesses) {
    Func f("f"), same("same"), half("half");
    f(x) = cast<float>(x);
    same(x) = f(x);
    half(x) = f(x / 2);
    estimate(same, {1024});
    estimate(half, {1024});
    const Built full({same});
    EXPECT_EQ(at_root(full, f).required(0).extent(), 1024);
    EXPECT_EQ(full.node(f).outgoing_edges.size(), 1u);
    EXPECT_EQ(full.edge(f, same).load_jacobians.size(), 1u);
    const Built halved({half});
    EXPECT_EQ(at_root(halved, f).required(0).extent(), 512);
    EXPECT_EQ(halved.node(f).outgoing_edges.size(), 1u);
    EXPECT_EQ(halved.edge(f, half).load_jacobians.size(), 1u);
}

TEST(RootRegions, HalveOneDimension) {
    Func f("f"), g("g");
    f(x, y) = cast<float>(x + y);
    g(x, y) = f(x, y / 2);
    estimate(g, {1024, 1024});
    const Built b({g});
    EXPECT_EQ(at_root(b, f).required(0).extent(), 1024);
    EXPECT_EQ(at_root(b, f).required(1).extent(), 512);
    EXPECT_EQ(b.edge(f, g).load_jacobians.size(), 1u);
}

TEST(Footprints, RecogniseAffineShapes) {
    Func f("f"), g("g");
    f(x, y) = cast<float>(x + y);
    g(x, y) = f(2 * x + 3, y - 4) + f(2 * x + 5, y);
    estimate(g, {64, 64});
    const Built b({g});
    const Edge &e = b.edge(f, g);
    const Span loops[] = {{10, 19, true, true}, {4, 5, true, true}};
    EXPECT_EQ(e.bounds[0].min.kind, BoundExpr::Kind::Affine);
    EXPECT_EQ(e.bounds[0].min.evaluate(loops), 23);
    EXPECT_EQ(e.bounds[0].max.evaluate(loops), 43);
    EXPECT_EQ(e.bounds[1].min.evaluate(loops), 0);
    EXPECT_EQ(e.bounds[1].max.evaluate(loops), 5);
}

TEST(Footprints, OfHighPowersTakeNoTime) {
    Func f("f"), out("out");
    f(x) = x;
    const Expr base = cast<float>(x) * 0.03125f;
    Expr power = base;
    for (int factors = 1; factors < 14; factors++) {
        power = power * base;
    }
    out(x) = f(clamp(cast<int>(power), 0, 99));
    estimate(out, {60});
    const Built b({out});
    const Span low = {0, 40, true}, high = {0, 59, true};
    EXPECT_EQ(b.edge(f, out).bounds[0].max.evaluate(&low), 22);
    EXPECT_EQ(b.edge(f, out).bounds[0].min.evaluate(&high), 0);
    EXPECT_EQ(b.edge(f, out).bounds[0].max.evaluate(&high), 99);
}

TEST(Footprints, ClampsAreProgramsAndTablesAreConstant) {
    Func lut("lut"), f("f"), g("g");
    ImageParam in = image(UInt(8), "in", {64, 64});
    lut(i) = cast<float>(i);
    f(x, y) = cast<float>(x + y);
    g(x, y) = f(clamp(x - 1, 0, 63), y) + lut(in(x, y));
    estimate(g, {64, 64});
    const Built b({g});
    const EdgeBound &clamped = b.edge(f, g).bounds[0];
    EXPECT_EQ(clamped.min.kind, BoundExpr::Kind::Program);
    const Span loops[] = {{0, 9, true, true}, {0, 0, true, true}};
    EXPECT_EQ(clamped.min.evaluate(loops), 0);
    EXPECT_EQ(clamped.max.evaluate(loops), 8);
    const EdgeBound &table = b.edge(lut, g).bounds[0];
    EXPECT_EQ(table.min.kind, BoundExpr::Kind::Constant);
    EXPECT_EQ(table.min.add, 0);
    EXPECT_EQ(table.max.add, 255);
}

TEST(Exactness, ParameterShiftsAreAffineButNotExact) {
    Func f("f"), g("g");
    Param<int> p("p");
    p.set_estimate(2);
    f(x, y) = cast<float>(x + y);
    g(x, y) = f(x, y) + f(x, y + p);
    estimate(g, {64, 64});
    const Built b({g});
    const Edge &e = b.edge(f, g);
    EXPECT_TRUE(e.bounds[0].min.exact);
    EXPECT_TRUE(e.bounds[0].max.exact);
    EXPECT_EQ(e.bounds[1].max.kind, BoundExpr::Kind::Affine);
    EXPECT_EQ(e.bounds[1].max.add, 2);
    EXPECT_FALSE(e.bounds[1].max.exact);
    EXPECT_FALSE(e.bounds[1].min.exact);
}

TEST(Exactness, FollowsRangesOfValues) {
    Func index("index"), table("table"), f("f"), g("g");
    Param<int> levels("levels");
    levels.set_estimate(8);
    f(x) = cast<float>(x);
    index(x) = clamp(x * 3, 0, levels - 1);
    table(x) = clamp(x * 3, 0, 7);
    g(x) = f(index(x)) + cast<float>(table(x));
    estimate(g, {64});
    const Built b({g});
    EXPECT_EQ(b.edge(f, g).bounds[0].max.add, 7);
    EXPECT_FALSE(b.edge(f, g).bounds[0].max.exact);
    EXPECT_TRUE(b.edge(table, g).bounds[0].max.exact);
}

TEST(Exactness, OfReductionDomains) {
    Func f("f"), g("g");
    ImageParam in = image(Float(32), "in", {40, 30});
    const RDom literal(0, 5);
    const RDom sized(0, in.width());
    f(x) = 0.0f;
    f(x) += cast<float>(x + literal);
    f(x) += in(sized, 0);
    g(x) = f(x);
    estimate(g, {64});
    const Built b({g});
    EXPECT_EQ(b.stage(f, 1).loops[0].constant_span, (Span{0, 4, true, true}));
    EXPECT_EQ(b.stage(f, 2).loops[0].constant_span, (Span{0, 39, true, false}));
}

TEST(Exactness, ConstantConstraintsCountAsKnown) {
    Func f("f"), g("g");
    ImageParam in(Float(32), 1, "in");
    in.dim(0).set_bounds(0, 40);
    const RDom sized(0, in.width());
    f(x) = 0.0f;
    f(x) += in(sized);
    g(x) = f(x);
    estimate(g, {64});
    EXPECT_EQ(Built({g}).stage(f, 1).loops[0].constant_span, (Span{0, 39, true, true}));
    // An estimate that contradicts the constraint is what the model believes.
    in.dim(0).set_estimate(0, 10);
    EXPECT_EQ(Built({g}).stage(f, 1).loops[0].constant_span, (Span{0, 9, true, false}));
}

TEST(Estimates, BoundsOverrideAndAreExact) {
    Func g("g");
    g(x, y) = x + y;
    g.set_estimates({{0, 64}, {-3, 10}});
    g.bound(x, 5, 100);
    g.align_bounds(y, 2);
    const Built b({g});
    const std::vector<Span> &region = b.node(g).estimate;
    EXPECT_EQ(region[0], (Span{5, 104, true, true}));
    EXPECT_EQ(region[1], (Span{-3, 6, false, false}));
}

TEST(Estimates, ABoundOfTheExtentConfirmsOrContradicts) {
    Func g("g");
    g(x, y) = x + y;
    g.set_estimates({{2, 64}, {0, 10}});
    g.bound_extent(x, 64);
    g.bound_extent(y, 12);
    const Built b({g});
    EXPECT_EQ(b.node(g).estimate[0], (Span{2, 65, false, true}));
    EXPECT_EQ(b.node(g).estimate[1], (Span{0, 9, false, false}));
}

TEST(Estimates, OfTheOutputBufferWillDo) {
    Func g("g");
    g(x) = x;
    g.output_buffer().dim(0).set_estimate(2, 30);
    EXPECT_EQ(Built({g}).node(g).estimate.at(0), (Span{2, 31, false, false}));
}

TEST(Estimates, LaterOnesOverride) {
    Func g("g");
    g(x) = x;
    g.set_estimate(x, 0, 10);
    g.set_estimate(x, 0, 20);
    EXPECT_EQ(Built({g}).node(g).estimate.at(0).max, 19);
}

}  // namespace
}  // namespace anderson2021
