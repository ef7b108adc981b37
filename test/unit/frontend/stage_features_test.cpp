#include <gtest/gtest.h>

#include "built_graph.h"
#include "frontend/stage_features.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of the pipelines
using test::Built;
using test::estimate;
using test::image;
using test::ops;

const Var x("x"), y("y");

// Features of o(x) = value.
StageFeatures features_of(const Expr &value) {
    Func o;
    o(x) = value;
    return stage_features(o.name(), o.function().definition(), {"x"});
}

int count(const StageFeatures &f, OpClass op, ScalarClass type) {
    return f.counts[op_index(op, type)];
}

TEST(ScalarClassOf, FollowsWidthAndKind) {
    EXPECT_EQ(scalar_class(Bool()), ScalarClass::Bool);
    EXPECT_EQ(scalar_class(Int(8)), ScalarClass::UInt8);
    EXPECT_EQ(scalar_class(UInt(2)), ScalarClass::UInt8);
    EXPECT_EQ(scalar_class(Int(16)), ScalarClass::UInt16);
    EXPECT_EQ(scalar_class(UInt(32)), ScalarClass::UInt32);
    EXPECT_EQ(scalar_class(Int(64)), ScalarClass::UInt64);
    EXPECT_EQ(scalar_class(Handle()), ScalarClass::UInt64);
    EXPECT_EQ(scalar_class(Float(16)), ScalarClass::Float);
    EXPECT_EQ(scalar_class(BFloat(16)), ScalarClass::Float);
    EXPECT_EQ(scalar_class(Float(32)), ScalarClass::Float);
    EXPECT_EQ(scalar_class(Float(64)), ScalarClass::Double);
}

TEST(StageFeatures, CountsOperationsByResultType) {
    const StageFeatures f = features_of(select(x > 3, cast<float>(x) * 2.0f, 5.0f));
    EXPECT_EQ(count(f, OpClass::Select, ScalarClass::Float), 1);
    EXPECT_EQ(count(f, OpClass::LT, ScalarClass::Bool), 1);
    EXPECT_EQ(count(f, OpClass::Mul, ScalarClass::Float), 1);
    EXPECT_EQ(count(f, OpClass::Const, ScalarClass::Float), 2);
    EXPECT_EQ(count(f, OpClass::Const, ScalarClass::UInt32), 1);
    // Twice in the value, once on the left-hand side.
    EXPECT_EQ(count(f, OpClass::Variable, ScalarClass::UInt32), 3);
    EXPECT_EQ(f.counts[type_in_use_index(ScalarClass::Bool)], 1);
    EXPECT_EQ(f.counts[type_in_use_index(ScalarClass::Float)], 1);
    EXPECT_EQ(f.counts[type_in_use_index(ScalarClass::Double)], 0);
}

TEST(StageFeatures, NeverCountsCasts) {
    const StageFeatures f = features_of(cast<double>(cast<uint8_t>(x)));
    for (size_t t = 0; t < kNumScalarClasses; t++) {
        EXPECT_EQ(count(f, OpClass::Cast, static_cast<ScalarClass>(t)), 0);
    }
}

// A store does not mark its type: the value is a cast, and casts are not counted.
TEST(StageFeatures, AccessesDoNotMarkTheirType) {
    const StageFeatures f = features_of(cast<double>(x));
    EXPECT_EQ(
        f.counts[access_index(AccessPattern::Pointwise, AccessKind::Store, ScalarClass::Double)],
        1);
    EXPECT_EQ(f.counts[type_in_use_index(ScalarClass::Double)], 0);
}

TEST(StageFeatures, GreaterCountsAsLess) {
    ImageParam in(Int(32), 1, "in");
    const StageFeatures f =
        features_of(select(in(x) >= 3 || in(x) <= in(x + 1), 1, !(in(x) != in(x + 2)), 2, 3));
    EXPECT_EQ(count(f, OpClass::LE, ScalarClass::Bool), 2);
    EXPECT_EQ(count(f, OpClass::Or, ScalarClass::Bool), 1);
    EXPECT_EQ(count(f, OpClass::EQ, ScalarClass::Bool), 1);
    EXPECT_EQ(count(f, OpClass::Select, ScalarClass::UInt32), 2);
}

TEST(StageFeatures, MathAndIntrinsicsAreExternCalls) {
    ImageParam in(Float(32), 1, "in");
    const StageFeatures f = features_of(sin(in(x)) + abs(in(x + 1)) + likely(in(x + 2)));
    EXPECT_EQ(count(f, OpClass::ExternCall, ScalarClass::Float), 3);
    EXPECT_EQ(count(f, OpClass::FuncCall, ScalarClass::Float), 3);
}

TEST(StageFeatures, ParametersAreNotVariables) {
    Param<float> gain("gain");
    ImageParam in(Float(32), 1, "in");
    const StageFeatures f = features_of(in(min(x, in.dim(0).extent() - 1)) * gain);
    EXPECT_EQ(count(f, OpClass::Param, ScalarClass::Float), 1);
    EXPECT_EQ(count(f, OpClass::Param, ScalarClass::UInt32), 1);
    EXPECT_EQ(count(f, OpClass::Variable, ScalarClass::UInt32), 2);
}

// Both uses of sin(x) become a variable; the let itself and its body count as floats.
TEST(StageFeatures, SharedPartsCountOnce) {
    const Expr s = sin(cast<float>(x));
    const StageFeatures f = features_of(s * s);
    EXPECT_EQ(count(f, OpClass::ExternCall, ScalarClass::Float), 1);
    EXPECT_EQ(count(f, OpClass::Let, ScalarClass::Float), 1);
    EXPECT_EQ(count(f, OpClass::Variable, ScalarClass::Float), 2);
    EXPECT_EQ(count(f, OpClass::Mul, ScalarClass::Float), 1);
}

TEST(StageFeatures, DerivesThroughSharedIndices) {
    Func g("g");
    g(x) = cast<float>(x);
    const Expr i = (x * 6 + 2) / 4;
    const StageFeatures f = features_of(g(i) * g(i) + g(i + 1));
    ASSERT_EQ(f.loads.count(g.name()), 1u);
    EXPECT_EQ(f.loads.at(g.name()).size(), 2u);
}

TEST(StageFeatures, EveryTupleElementIsAStore) {
    Func t;
    t(x, y) = Tuple(cast<float>(x), cast<float>(y), x + y);
    const StageFeatures f = stage_features(t.name(), t.function().definition(), {"x", "y"});
    EXPECT_EQ(
        f.counts[access_index(AccessPattern::Pointwise, AccessKind::Store, ScalarClass::Float)], 2);
    EXPECT_EQ(
        f.counts[access_index(AccessPattern::Pointwise, AccessKind::Store, ScalarClass::UInt32)],
        1);
    EXPECT_EQ(f.store.rows(), 2);
}

TEST(StageFeatures, SelfCallsAreKeptApart) {
    Func s("s"), o("o");
    ImageParam in = image(Float(32), "in", {64, 64});
    const RDom r(1, 63);
    s(x, y) = in(x, y);
    s(x, r) = s(x, r - 1) * 0.5f + in(x, r);
    o(x, y) = s(x, y);
    estimate(o, {64, 64});
    const Built b({o});
    const StageNode &scan = b.stage(s, 1);
    EXPECT_EQ(ops(scan, OpClass::SelfCall, ScalarClass::Float), 1);
    EXPECT_EQ(ops(scan, OpClass::FuncCall, ScalarClass::Float), 1);
    // Loops (r, x), coordinates (x, r - 1).
    EXPECT_EQ(scan.features[access_index(
                  AccessPattern::Transpose, AccessKind::LoadSelf, ScalarClass::Float)],
              1);
    EXPECT_FALSE(b.has_edge(s, s, 1));
}

}  // namespace
}  // namespace anderson2021
