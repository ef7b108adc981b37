#include <gtest/gtest.h>
#include <limits>

#include "algorithm/bound_program.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

std::string no_text() {
    return "";
}

int64_t binary(BoundOp op, int64_t a, int64_t b, IntType type = {}) {
    BoundProgramBuilder p;
    p.literal(a);
    p.literal(b);
    p.operation(op, type);
    return p.finish(no_text)->evaluate(nullptr);
}

TEST(BoundProgram, DivisionLeavesNoNegativeRemainder) {
    EXPECT_EQ(binary(BoundOp::Div, 7, 3), 2);
    EXPECT_EQ(binary(BoundOp::Div, -7, 3), -3);
    EXPECT_EQ(binary(BoundOp::Div, 7, -3), -2);
    EXPECT_EQ(binary(BoundOp::Div, -7, -3), 3);
    EXPECT_EQ(binary(BoundOp::Mod, 7, 3), 1);
    EXPECT_EQ(binary(BoundOp::Mod, -7, 3), 2);
    EXPECT_EQ(binary(BoundOp::Mod, 7, -3), 1);
    EXPECT_EQ(binary(BoundOp::Mod, -7, -3), 2);
}

TEST(BoundProgram, DivisionByZeroIsZero) {
    EXPECT_EQ(binary(BoundOp::Div, 7, 0), 0);
    EXPECT_EQ(binary(BoundOp::Mod, 7, 0), 0);
}

TEST(BoundProgram, ResultsWrapToTheirType) {
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
    EXPECT_EQ(binary(BoundOp::Add, kMax, 1), kMin);
    EXPECT_EQ(binary(BoundOp::Mul, kMax, 2), -2);
    EXPECT_EQ(binary(BoundOp::Div, kMin, -1), kMin);
    EXPECT_EQ(binary(BoundOp::Mod, kMin, -1), 0);
    EXPECT_EQ(binary(BoundOp::Sub, 3, 5, {false, 8}), 254);
    EXPECT_EQ(binary(BoundOp::Add, 100, 100, {true, 8}), -56);
    EXPECT_EQ(binary(BoundOp::Add, kMax, 1, {true, 64}), kMax + 1);
}

TEST(BoundProgram, ComparisonsAndLogicYieldBooleans) {
    EXPECT_EQ(binary(BoundOp::LT, 1, 2), 1);
    EXPECT_EQ(binary(BoundOp::LT, 2, 2), 0);
    EXPECT_EQ(binary(BoundOp::LE, 2, 2), 1);
    EXPECT_EQ(binary(BoundOp::EQ, 2, 2), 1);
    EXPECT_EQ(binary(BoundOp::NE, 2, 2), 0);
    EXPECT_EQ(binary(BoundOp::And, 1, 0), 0);
    EXPECT_EQ(binary(BoundOp::Or, 1, 0), 1);
    BoundProgramBuilder p;
    p.literal(1);
    p.operation(BoundOp::Not);
    EXPECT_EQ(p.finish(no_text)->evaluate(nullptr), 0);
}

// min(max(span1.max, 3), span0.min / 2)
TEST(BoundProgram, ReadsEndsOfSpans) {
    BoundProgramBuilder p;
    p.end(1, true);
    p.literal(3);
    p.operation(BoundOp::Max);
    p.end(0, false);
    p.literal(2);
    p.operation(BoundOp::Div);
    p.operation(BoundOp::Min);
    const auto program = p.finish([] { return std::string("source"); });
    const Span low[] = {{20, 90, false, false}, {-5, 1, false, false}};
    EXPECT_EQ(program->evaluate(low), 3);
    const Span high[] = {{-21, 90, false, false}, {-5, 70, false, false}};
    EXPECT_EQ(program->evaluate(high), -11);
    EXPECT_EQ(program->text(), "source");
}

TEST(BoundProgram, TruncatesEndsTo32Bits) {
    BoundProgramBuilder p;
    p.end(0, true);
    const Span wide[] = {{0, (int64_t{1} << 32) + 5, false, false}};
    EXPECT_EQ(p.finish(no_text)->evaluate(wide), 5);
}

// let t = span0.min in (t < 0 ? -t : t)
TEST(BoundProgram, KeepsLocals) {
    BoundProgramBuilder p;
    p.end(0, false);
    const int t = p.store_local();
    p.load_local(t);
    p.literal(0);
    p.operation(BoundOp::LT);
    p.literal(0);
    p.load_local(t);
    p.operation(BoundOp::Sub);
    p.load_local(t);
    p.operation(BoundOp::Select);
    const auto program = p.finish(no_text);
    const Span negative[] = {{-9, 0, false, false}};
    const Span positive[] = {{4, 9, false, false}};
    EXPECT_EQ(program->evaluate(negative), 9);
    EXPECT_EQ(program->evaluate(positive), 4);
}

// 1 + (1 + (1 + ...)): every literal waits on the stack.
TEST(BoundProgram, DeepStacksWork) {
    constexpr int kDepth = 500;
    BoundProgramBuilder p;
    for (int i = 0; i < kDepth; i++) {
        p.literal(1);
    }
    for (int i = 0; i + 1 < kDepth; i++) {
        p.operation(BoundOp::Add);
    }
    EXPECT_EQ(p.finish(no_text)->evaluate(nullptr), kDepth);
}

TEST(BoundProgram, RefusesUnbalancedCode) {
    BoundProgramBuilder missing;
    missing.literal(1);
    EXPECT_THROW(missing.operation(BoundOp::Add), InternalError);
    BoundProgramBuilder left_over;
    left_over.literal(1);
    left_over.literal(2);
    EXPECT_THROW(left_over.finish(no_text), InternalError);
}

TEST(BoundExpr, AffineAndConstantFormsKeep64Bits) {
    const Span wide[] = {{0, 0, true, true}, {-3, int64_t{1} << 40, true, true}};
    EXPECT_EQ(BoundExpr::affine(1, true, 2, 5).evaluate(wide), (int64_t{1} << 41) + 5);
    EXPECT_EQ(BoundExpr::affine(1, false, -2, 5).evaluate(wide), 11);
    EXPECT_EQ(BoundExpr::constant(42).evaluate(nullptr), 42);
}

}  // namespace
}  // namespace anderson2021
