#include <gtest/gtest.h>
#include <random>
#include <thread>

#include "frontend/bound_compiler.h"
#include "frontend/simplified_bound.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of expressions

const std::vector<std::string> kNames = {"f.x", "f.y", "f.r"};

Expr end(int span, bool uses_max) {
    const std::string &name = kNames[static_cast<size_t>(span)];
    return Internal::Variable::make(Int(32), uses_max ? max_variable(name) : min_variable(name));
}

BoundExpr compile(const Expr &e) {
    return BoundCompiler(kNames).compile(e);
}

void expect_affine(const Expr &e, int span, bool uses_max, int64_t coeff, int64_t add) {
    const BoundExpr b = compile(e);
    EXPECT_EQ(b.kind, BoundExpr::Kind::Affine) << e;
    EXPECT_EQ(b.span, span) << e;
    EXPECT_EQ(b.uses_max, uses_max) << e;
    EXPECT_EQ(b.coeff, coeff) << e;
    EXPECT_EQ(b.add, add) << e;
}

TEST(BoundCompiler, RecognisesAffineShapes) {
    const Expr v = end(1, true);
    EXPECT_EQ(compile(Expr(-7)).kind, BoundExpr::Kind::Constant);
    EXPECT_EQ(compile(Expr(-7)).add, -7);
    expect_affine(v, 1, true, 1, 0);
    expect_affine(end(2, false), 2, false, 1, 0);
    expect_affine(v + (-3), 1, true, 1, -3);
    expect_affine(v * 4, 1, true, 4, 0);
    expect_affine(v * -4 + 9, 1, true, -4, 9);
}

TEST(BoundCompiler, AnythingElseIsAProgram) {
    const Expr v = end(0, false);
    for (const Expr &e : {5 - v,
                          v / 2,
                          max(min(v, 9), 0),
                          v + end(0, true),
                          (v + 1) * 2,
                          v % 3,
                          Expr(select(v > 3, v, 0))}) {
        EXPECT_EQ(compile(e).kind, BoundExpr::Kind::Program) << e;
        EXPECT_FALSE(compile(e).is_affine());
    }
}

TEST(BoundCompiler, RefusesUnknownVariables) {
    const Expr stranger = Internal::Variable::make(Int(32), "g.x.min");
    EXPECT_THROW(compile(stranger), InternalError);
    EXPECT_THROW(compile(stranger / 2), InternalError);
    EXPECT_THROW(compile(sqrt(cast<float>(stranger))), InternalError);
}

TEST(BoundCompiler, UsesTheSimplifierForOtherNodes) {
    const BoundExpr b = compile(cast<int>(floor(cast<float>(end(0, true)) * 0.5f)));
    ASSERT_EQ(b.kind, BoundExpr::Kind::Program);
    EXPECT_NE(dynamic_cast<const SimplifiedBound *>(b.program.get()), nullptr);
    const Span env[] = {{0, 9, true, true}, Span::point(0), Span::point(0)};
    EXPECT_EQ(b.evaluate(env), 4);
    EXPECT_NE(b.program->text().find("f.x.max"), std::string::npos);
}

// Results are remembered per values of the ends that the expression uses.
TEST(BoundCompiler, SimplifierFallbackTellsValuesApart) {
    const BoundExpr b = compile(cast<int>(ceil(cast<float>(end(0, true) - end(1, false)) * 0.25f)));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++) {
            const Span env[] = {
                {-1000 * i, 4 * i, true, true}, {4, 5 + i, true, true}, Span::point(i)};
            EXPECT_EQ(b.evaluate(env), i - 1);
            const Span swapped[] = {
                {0, 4, true, true}, {4 * i, 100 + i, true, true}, Span::point(i)};
            EXPECT_EQ(b.evaluate(swapped), 1 - i);
        }
    }
}

TEST(BoundCompiler, SimplifierFallbackIsThreadSafe) {
    const BoundExpr b = compile(cast<int>(ceil(cast<float>(end(0, true)) * 0.25f)));
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (size_t t = 0; t < wrong.size(); t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; i++) {
                const Span env[] = {{0, 4 * i, true, true}, Span::point(0), Span::point(0)};
                wrong[t] += b.evaluate(env) == i ? 0 : 1;
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(wrong, (std::vector<int>(4, 0)));
}

// Random integer expressions over the six ends.
class RandomExpr {
public:
    explicit RandomExpr(uint32_t seed) : rng_(seed) {}

    Expr value(int depth) {
        if (depth == 0 || pick(6) == 0) {
            return pick(3) == 0 ? Expr(pick(41) - 20) : end(pick(3), pick(2) == 1);
        }
        const Expr a = value(depth - 1);
        const Expr b = value(depth - 1);
        switch (pick(15)) {
        case 0:
            return a + b;
        case 1:
            return a - b;
        case 2:
            return a * (pick(9) - 4);
        case 3:
            return a / nonzero();
        case 4:
            return a % nonzero();
        case 5:
            return min(a, b);
        case 6:
            return max(a, b);
        case 7:
            return select(condition(depth - 1), a, b);
        case 8:
            return likely(a);
        case 9:
            return cast<int>(cast<uint8_t>(a));
        case 10:
            return cast<int>(cast<int16_t>(a) + cast<int16_t>(b));
        case 11:
            return bind(a, b);
        case 12:
            return a / (b - end(0, false));  // may well divide by 0
        case 13:
            return a % (b - end(1, true));
        default:
            return clamp(a, pick(10) - 12, pick(30));
        }
    }

    Expr condition(int depth) {
        const Expr a = value(depth);
        const Expr b = value(depth);
        switch (pick(7)) {
        case 0:
            return a < b;
        case 1:
            return a <= b;
        case 2:
            return a > b;
        case 3:
            return a >= b;
        case 4:
            return a == b;
        case 5:
            return depth > 0 ? condition(depth - 1) && a != b : a != b;
        default:
            return depth > 0 ? !(condition(depth - 1) || a < b) : a < b;
        }
    }

    // The simplifier wants every name to be bound once.
    Expr bind(const Expr &a, const Expr &b) {
        const std::string name = "t" + std::to_string(lets_++);
        return Internal::Let::make(name, a, b + Internal::Variable::make(Int(32), name) * 3);
    }

    int nonzero() { return pick(2) == 0 ? 1 + pick(5) : -1 - pick(5); }

    int pick(int n) { return static_cast<int>(rng_() % static_cast<uint32_t>(n)); }

private:
    std::mt19937 rng_;
    int lets_ = 0;
};

TEST(BoundCompiler, AgreesWithTheSimplifier) {
    RandomExpr random(20);
    int programs = 0;
    for (int i = 0; i < 400; i++) {
        const Expr e = Internal::simplify(random.value(4));
        const BoundExpr b = compile(e);
        const bool compiled = b.kind == BoundExpr::Kind::Program &&
                              dynamic_cast<const SimplifiedBound *>(b.program.get()) == nullptr;
        programs += compiled ? 1 : 0;
        std::map<std::string, std::pair<int, bool>> ends;
        for (int s = 0; s < 3; s++) {
            const std::string &name = kNames[static_cast<size_t>(s)];
            ends[min_variable(name)] = {s, false};
            ends[max_variable(name)] = {s, true};
        }
        const SimplifiedBound reference(e, ends);
        for (int k = 0; k < 6; k++) {
            Span env[3];
            for (Span &s : env) {
                s.min = random.pick(201) - 100;
                s.max = s.min + random.pick(60);
            }
            ASSERT_EQ(b.evaluate(env), reference.evaluate(env)) << e;
        }
    }
    // Not everything folds away, and hardly anything needs the fallback.
    EXPECT_GT(programs, 250);
}

}  // namespace
}  // namespace anderson2021
