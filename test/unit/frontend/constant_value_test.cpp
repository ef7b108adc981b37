// Expressions that the simplifier leaves standing, and values that anybody can work out.
#include <gtest/gtest.h>
#include <limits>

#include "frontend/constant_value.h"

namespace anderson2021 {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Int;
using Halide::UInt;

const float infinity = std::numeric_limits<float>::infinity();

int64_t value(const Expr &e) {
    const std::optional<int64_t> result = constant_value(e);
    EXPECT_TRUE(result.has_value()) << e;
    return result.value_or(-999);
}

// cast() would fold constants by itself, and not always to the same.
Expr convert(Halide::Type type, const Expr &e) {
    return Halide::Internal::Cast::make(type, e);
}

TEST(ConstantValue, FloatsSaturateToIntegers) {
    EXPECT_EQ(value(Halide::clamp(convert(Int(32), Expr(infinity)), 0, 255)), 255);
    EXPECT_EQ(value(Halide::clamp(convert(Int(32), Expr(-infinity)), 0, 255)), 0);
    EXPECT_EQ(value(convert(Int(32), Expr(3e10f))), 2147483647);
    EXPECT_EQ(value(convert(Int(32), Expr(-3e10f))), -2147483648LL);
    EXPECT_EQ(value(convert(UInt(8), Expr(300.0f))), 255);
    EXPECT_EQ(value(convert(UInt(8), Expr(-4.0f))), 0);
    EXPECT_EQ(value(convert(Int(64), Expr(infinity))), std::numeric_limits<int64_t>::max());
    EXPECT_EQ(value(convert(Int(32), Expr(-2.75f))), -2);
    EXPECT_EQ(value(convert(Int(32), Expr(infinity) - Expr(infinity))), 0);
}

TEST(ConstantValue, WideSignedIntegersSaturateAndOthersWrap) {
    const Expr large = Expr(2000000000);
    EXPECT_EQ(value(large + large), 2147483647);
    EXPECT_EQ(value(-large * large), -2147483648LL);
    EXPECT_EQ(value(cast(UInt(8), Expr(200)) + cast(UInt(8), Expr(100))), 44);
    EXPECT_EQ(value(cast(Int(8), Expr(200))), -56);
}

TEST(ConstantValue, DivisionLeavesARemainderThatIsNotNegative) {
    const Expr minus_seven = convert(Int(32), Expr(-7.0f));
    EXPECT_EQ(value(minus_seven / 2), -4);
    EXPECT_EQ(value(minus_seven % 2), 1);
    EXPECT_EQ(value(minus_seven / -2), 4);
    EXPECT_EQ(value(minus_seven % -2), 1);
    const Expr zero = convert(Int(32), Expr(0.5f));
    EXPECT_EQ(value(Halide::Internal::Div::make(minus_seven, zero)), 0);
    EXPECT_EQ(value(Halide::Internal::Mod::make(minus_seven, zero)), 0);
}

TEST(ConstantValue, FunctionsOfFloats) {
    const Expr two = cast<float>(cast(Int(32), Expr(2.5f)));
    EXPECT_EQ(value(cast(Int(32), Halide::exp(two) * 100.0f)), 738);
    EXPECT_EQ(value(cast(Int(32), Halide::pow(two, 3.0f) + 0.5f)), 8);
    EXPECT_EQ(value(cast(Int(32), Halide::floor(-two / 4.0f))), -1);
    EXPECT_EQ(value(Halide::abs(cast(Int(32), -two))), 2);
    EXPECT_EQ(value(Halide::select(Halide::sqrt(two) < 1.5f && !(two == 3.0f), 7, 8)), 7);
}

TEST(ConstantValue, SharedPartsAreSeenOnce) {
    Expr sum = cast(Int(32), Expr(1.0f));
    for (int i = 0; i < 200; i++) {
        sum = Halide::min(sum, sum + 1);
    }
    EXPECT_EQ(value(sum), 1);
}

TEST(ConstantValue, InnerLetsHideOuterOnes) {
    using Halide::Internal::Let;
    const Expr v = Halide::Internal::Variable::make(Int(32), "v");
    const Expr use = v * 10;
    const Expr inner = Let::make("v", v + 1, use);
    EXPECT_EQ(value(Let::make("v", 3, use + inner + use)), 30 + 40 + 30);
}

TEST(ConstantValue, UnknownOperationsHaveNone) {
    EXPECT_FALSE(constant_value(Halide::Var("x") + 1).has_value());
    EXPECT_FALSE(constant_value(Expr(1.0f)).has_value());
    EXPECT_FALSE(constant_value(cast(Int(32), Halide::random_float())).has_value());
}

}  // namespace
}  // namespace anderson2021
