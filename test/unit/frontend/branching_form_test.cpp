#include <gtest/gtest.h>

#include "built_graph.h"
#include "frontend/branching_form.h"

namespace anderson2021 {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace): the language of the pipelines
using test::Built;
using test::estimate;

const Var x("x"), y("y");

int branching(const Built &b, const Func &f, const std::vector<Func> &inlined = {}) {
    return expression_branching(b.graph().branching, b.node(f).id, [&](int id) {
        for (const Func &g : inlined) {
            if (b.node(g).id == id) {
                return true;
            }
        }
        return false;
    });
}

TEST(BranchingForm, CountsValuesInFlight) {
    Func chain("chain"), balanced("balanced"), out("out");
    ImageParam in = test::image(Float(32), "in", {80});
    chain(x) = in(x) + in(x + 1) + in(x + 2) + in(x + 3) + in(x + 4);
    balanced(x) =
        (in(x)*in(x + 1) + in(x + 2) * in(x + 3)) - (in(x + 4) * in(x + 5) + in(x + 6) * in(x + 7));
    out(x) = chain(x) + balanced(x);
    estimate(out, {64});
    const Built b({out});
    // The index x + 1 needs two values, and so does every sum of such loads: two of them three.
    EXPECT_EQ(branching(b, chain), 3);
    EXPECT_GT(branching(b, balanced), branching(b, chain));
}

TEST(BranchingForm, InlinedCallsTakeTheCalleesNumber) {
    Func f("f"), g("g"), out("out");
    ImageParam in = test::image(Float(32), "in", {80, 80});
    f(x, y) = (in(x, y) * in(y, x)) + (in(x, y + 1) * in(y, x + 1));
    g(x, y) = f(x, y) * 2.0f;
    out(x, y) = g(x, y) + f(x, y);
    estimate(out, {64, 64});
    const Built b({out});
    const int of_f = branching(b, f);
    EXPECT_GE(of_f, 3);
    // A plain call f(x, y) has the two values x and y.
    EXPECT_EQ(branching(b, g), 2);
    EXPECT_EQ(branching(b, g, {f}), of_f);
    EXPECT_EQ(branching(b, out), 3);
    EXPECT_EQ(branching(b, out, {f, g}), of_f + 1);
}

// The update is a wide tree, the pure definition a constant.
TEST(BranchingForm, IgnoresUpdates) {
    Func f("f"), out("out");
    ImageParam in = test::image(Float(32), "in", {80});
    f(x) = 0.0f;
    f(x) += (in(x)*in(x + 1)) + (in(x + 2) * in(x + 3));
    out(x) = f(x);
    estimate(out, {64});
    EXPECT_EQ(branching(Built({out}), f), 1);
}

TEST(BranchingForm, SelectUsesTheWorseBranch) {
    Func f("f");
    ImageParam in = test::image(Float(32), "in", {80});
    f(x) = select(in(x) > 0.5f, 1.0f, in(x) / 2.0f + 3.0f);
    estimate(f, {64});
    // Condition 2, branches 1 and 2: max(2, 3).
    EXPECT_EQ(branching(Built({f}), f), 3);
}

}  // namespace
}  // namespace anderson2021
