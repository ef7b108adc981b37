// Derivatives and patterns of accesses, as a stage's graph node reports them.
#include <gtest/gtest.h>

#include "built_graph.h"
#include "frontend/access_derivative.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of the pipelines
using test::Built;
using test::estimate;
using test::matrix_text;

const Var x("x"), y("y"), z("z");

// Matrix of the coordinates in a stage with loops (x, y).
std::string derivatives(const std::vector<Expr> &coordinates) {
    return matrix_text(AccessDifferentiator({"x", "y"}).jacobian(coordinates));
}

TEST(Derivative, LinearForms) {
    EXPECT_EQ(derivatives({x + 1, y - 4}), "1 0; 0 1");
    EXPECT_EQ(derivatives({Expr(y), Expr(x)}), "0 1; 1 0");
    EXPECT_EQ(derivatives({5000 - x, x * 3 - y * 2}), "-1 0; 3 -2");
    EXPECT_EQ(derivatives({Expr(7)}), "0 0");
}

TEST(Derivative, FractionsMeetingASumAreKnownOnlyIfDenominatorsShareABit) {
    EXPECT_EQ(derivatives({x / 2}), "1/2 0");
    EXPECT_EQ(derivatives({x / 2 + 1}), "_ 0");
    EXPECT_EQ(derivatives({x / 3 + 1}), "1/3 0");
    EXPECT_EQ(derivatives({(x + 1) / 2}), "1/2 0");
    EXPECT_EQ(derivatives({x / 2 + y / 2}), "_ _");
    EXPECT_EQ(derivatives({x / 3 + x / 5}), "8/15 0");
    EXPECT_EQ(derivatives({x / 2 + x / 6}), "2/3 0");
}

TEST(Derivative, OtherShapesAreUnknownInWhatTheyUse) {
    EXPECT_EQ(derivatives({min(x, 5)}), "_ 0");
    EXPECT_EQ(derivatives({clamp(x, 0, 9) + y}), "_ 1");
    EXPECT_EQ(derivatives({x % 4}), "_ 0");
    EXPECT_EQ(derivatives({select(x > 3, y, 2)}), "_ _");
    EXPECT_EQ(derivatives({cast<int>(cast<uint8_t>(y))}), "0 _");
    EXPECT_EQ(derivatives({x * y}), "_ _");
    EXPECT_EQ(derivatives({x / y}), "_ _");
}

TEST(Derivative, SeesThroughLikelyOnly) {
    EXPECT_EQ(derivatives({likely(x * 2)}), "2 0");
    EXPECT_EQ(derivatives({likely_if_innermost(x * 2)}), "_ 0");
}

TEST(Derivative, ParametersAreConstants) {
    Param<int> p("p");
    EXPECT_EQ(derivatives({x + p, Expr(p)}), "1 0; 0 0");
    EXPECT_EQ(derivatives({x * p}), "_ 0");
}

TEST(Derivative, FollowsLets) {
    AccessDifferentiator d({"x", "y"});
    const Expr t = Internal::Variable::make(Int(32), "t");
    const Expr u = Internal::Variable::make(Int(32), "u");
    d.push_let("t", x * 3);
    d.push_let("u", t * 2 + y);
    EXPECT_EQ(matrix_text(d.jacobian({u + 1, t})), "6 1; 3 0");
    d.pop_let("u");
    d.push_let("u", y / 3);
    EXPECT_EQ(matrix_text(d.jacobian({u})), "0 1/3");
    d.pop_let("u");
    d.pop_let("t");
}

TEST(Derivative, LetsInsideACoordinateAreUnknown) {
    const Expr t = Internal::Variable::make(Int(32), "t");
    EXPECT_EQ(derivatives({Internal::Let::make("t", x + 1, t * t)}), "_ 0");
}

// How often each pattern is counted for loads of `f` by o(x, y).
struct Patterns {
    int pointwise, transpose, broadcast, slice;
    bool operator==(const Patterns &o) const {
        return pointwise == o.pointwise && transpose == o.transpose && broadcast == o.broadcast &&
               slice == o.slice;
    }
};

std::ostream &operator<<(std::ostream &s, const Patterns &p) {
    return s << p.pointwise << p.transpose << p.broadcast << p.slice;
}

Patterns patterns(const StageNode &stage, AccessKind kind, ScalarClass type = ScalarClass::Float) {
    const auto count = [&](AccessPattern p) { return stage.features[access_index(p, kind, type)]; };
    return {count(AccessPattern::Pointwise),
            count(AccessPattern::Transpose),
            count(AccessPattern::Broadcast),
            count(AccessPattern::Slice)};
}

Patterns load_patterns(const std::vector<Expr> &coordinates) {
    Func f("f"), o("o");
    std::vector<Var> args;
    const std::vector<Var> all = {x, y, z};
    args.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(coordinates.size()));
    Expr value = 1.5f;
    for (const Var &v : args) {
        value = value + cast<float>(v);
    }
    f(args) = value;
    o(x, y) = f(coordinates);
    estimate(o, {64, 64});
    return patterns(Built({o}).stage(o), AccessKind::LoadFunc);
}

TEST(AccessPattern, OfLoads) {
    EXPECT_EQ(load_patterns({x + 1, y - 4}), (Patterns{1, 1, 1, 1}));
    EXPECT_EQ(load_patterns({Expr(y), Expr(x)}), (Patterns{0, 1, 1, 1}));
    EXPECT_EQ(load_patterns({Expr(x), Expr(y), Expr(3)}), (Patterns{0, 0, 0, 1}));
    EXPECT_EQ(load_patterns({Expr(y)}), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(load_patterns({Expr(x), Expr(x)}), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(load_patterns({}), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(load_patterns({x * 2, Expr(y)}), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(load_patterns({x / 2, Expr(y)}), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(load_patterns({max(x, 3), Expr(y)}), (Patterns{0, 0, 0, 0}));
}

TEST(AccessPattern, OfStoresAndSelfLoads) {
    Func scalar("scalar"), pad("pad"), prod("prod"), t("t"), o("o");
    const RDom r(0, 10);
    scalar() = 2.0f;
    scalar() += cast<float>(r);
    pad(x, y) = 0.0f;
    pad(0, y) = 1.0f;
    pad(3, 4) = 1.0f;
    prod(x, y) = 0.0f;
    prod(x, y) += cast<float>(x + r);
    t(x, y) = 1.0f;
    t.reorder(y, x);
    o(x, y) = scalar() + pad(x, y) + prod(x, y) + t(x, y);
    estimate(o, {64, 64});
    const Built b({o});
    EXPECT_EQ(patterns(b.stage(scalar), AccessKind::Store), (Patterns{1, 1, 1, 1}));
    EXPECT_EQ(patterns(b.stage(scalar, 1), AccessKind::Store), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(patterns(b.stage(scalar, 1), AccessKind::LoadSelf), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(patterns(b.stage(pad, 1), AccessKind::Store), (Patterns{0, 0, 0, 1}));
    EXPECT_EQ(patterns(b.stage(pad, 2), AccessKind::Store), (Patterns{0, 0, 0, 1}));
    EXPECT_EQ(patterns(b.stage(prod, 1), AccessKind::Store), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(patterns(b.stage(prod, 1), AccessKind::LoadSelf), (Patterns{0, 0, 0, 0}));
    EXPECT_EQ(patterns(b.stage(t), AccessKind::Store), (Patterns{0, 1, 1, 1}));
    EXPECT_EQ(b.stage(scalar, 1).store_jacobian->rows(), 0);
    EXPECT_EQ(b.stage(scalar, 1).store_jacobian->cols(), 1);
}

TEST(LoadJacobians, EqualMatricesShareACount) {
    Func f("f"), o("o");
    f(x, y) = cast<float>(x + y);
    o(x, y) = f(x, y) + f(x + 1, y) + f(y, x) + f(x, y + 1) * f(max(x, 2), y);
    estimate(o, {64, 64});
    const Built b({o});
    const Edge &e = b.edge(f, o);
    EXPECT_EQ(e.calls, 5);
    ASSERT_EQ(e.load_jacobians.size(), 3u);
    int64_t total = 0;
    for (const AccessJacobian &j : e.load_jacobians) {
        total += j.count();
        if (matrix_text(j) == "1 0; 0 1") {
            EXPECT_EQ(j.count(), 3);
        }
    }
    EXPECT_EQ(total, 5);
    EXPECT_FALSE(e.all_load_jacobians_exist());
}

TEST(LoadJacobians, EqualCallsOfOneValueCountOnce) {
    Func f("f"), o("o");
    f(x) = cast<float>(x);
    o(x) = f(x) * f(x);
    estimate(o, {64});
    const Built b({o});
    EXPECT_EQ(b.edge(f, o).calls, 1);
    EXPECT_EQ(b.edge(f, o).load_jacobians.at(0).count(), 1);
}

TEST(LoadJacobians, TheSameCallOnBothSidesOfAnUpdateCountsTwice) {
    Func f("f"), h("h"), o("o");
    const RDom r(0, 64);
    f(x) = cast<uint8_t>(x * 7);
    h(x) = 0;
    h(f(r)) += cast<int>(f(r));
    o(x) = h(x);
    estimate(o, {200});
    const Built b({o});
    // The self-reference on the right-hand side repeats the index once more.
    EXPECT_EQ(b.edge(f, h, 1).calls, 2);
    EXPECT_EQ(b.edge(f, h, 1).load_jacobians.at(0).count(), 2);
}

TEST(LoadJacobians, PredicatesGiveEdgesWithoutMatrices) {
    Func f("f"), g("g"), s("s"), o("o");
    f(x) = cast<float>(x);
    g(x) = cast<float>(x * 2);
    RDom r(0, 30);
    r.where(g(r) > 5.0f);
    s(x) = 0.0f;
    s(x) += f(x + r);
    o(x) = s(x);
    estimate(o, {64});
    const Built b({o});
    EXPECT_EQ(b.edge(g, s, 1).calls, 1);
    EXPECT_TRUE(b.edge(g, s, 1).load_jacobians.empty());
    EXPECT_TRUE(b.edge(g, s, 1).all_load_jacobians_exist());
    EXPECT_EQ(b.edge(f, s, 1).load_jacobians.size(), 1u);
    EXPECT_EQ(test::ops(b.stage(s, 1), OpClass::FuncCall, ScalarClass::Float), 1);
}

}  // namespace
}  // namespace anderson2021
