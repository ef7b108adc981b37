// Directives of the user that stay, and what the graph knows of them.
#include <gtest/gtest.h>

#include "built_graph.h"

namespace anderson2021 {
namespace {

using Halide::Func;
using Halide::Param;
using Halide::RDom;
using Halide::Var;
using test::Built;
using test::estimate;
using test::image;

const Var x("x"), y("y");

TEST(Directives, ReadersReadWrappers) {
    Func f("f"), g("g"), h("h"), out("out");
    f(x, y) = x * y;
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = f(x, y) - f(x, y + 2);
    out(x, y) = g(x, y) + h(x, y);
    estimate(out, {64, 64});
    const Func wrapper = f.in(g);
    const Built built({out});
    EXPECT_EQ(built.graph().num_funcs(), 5);
    EXPECT_TRUE(built.has_edge(wrapper, g));
    EXPECT_TRUE(built.has_edge(f, wrapper));
    EXPECT_FALSE(built.has_edge(f, g));
    EXPECT_TRUE(built.has_edge(f, h));
    EXPECT_EQ(built.edge(wrapper, g).calls, 2);
    EXPECT_TRUE(built.node(wrapper).is_wrapper);
    EXPECT_EQ(built.node(wrapper).wrapped_func, built.node(f).id);
    EXPECT_EQ(built.node(wrapper).wrapped_in, built.node(g).id);
    EXPECT_TRUE(built.node(f).has_wrappers);
    EXPECT_EQ(built.node(g).wrapped_func, -1);
    // The functions are the user's own, untouched.
    for (const Func &func : {f, g, h, out, wrapper}) {
        const auto id = static_cast<size_t>(built.node(func).id);
        EXPECT_TRUE(built.functions()[id].same_as(func.function())) << func.name();
    }
    EXPECT_EQ(Halide::Internal::find_direct_calls(g.function()).count(f.name()), 1u);
}

// A pipeline finds its Funcs by position, but not what Func::in made.
TEST(Directives, PositionsLeaveOutWrappers) {
    Func f("f"), g("g"), out("out");
    f(x) = x;
    g(x) = f(x) + f(x + 1);
    out(x) = g(x);
    estimate(out, {64});
    const Func wrapper = f.in();
    const Built built({out});
    const auto position = [&](const Func &func) {
        return built.graph().index_in_pipeline(built.node(func).id);
    };
    EXPECT_EQ(position(f), 0);
    EXPECT_EQ(position(g), 1);
    EXPECT_EQ(position(out), 2);
    EXPECT_EQ(position(wrapper), -1);
    EXPECT_EQ(built.node(wrapper).wrapped_in, -1);
}

TEST(Directives, WrappersOfImagesAreOrdinaryFuncs) {
    Halide::ImageParam im = image(Halide::Int(32), "im", {65});
    Func out("out");
    out(x) = im(x) + im(x + 1);
    estimate(out, {64});
    const Func wrapper = im.in();
    const Built built({out});
    EXPECT_FALSE(built.node(wrapper).is_input);
    EXPECT_TRUE(built.has_edge(wrapper, out));
}

TEST(Directives, ClonesAreFuncsOfTheirOwn) {
    Func f("f"), g("g"), h("h"), out("out");
    f(x) = x * x;
    g(x) = f(x) + f(x + 1);
    h(x) = f(2 * x);
    out(x) = g(x) + h(x);
    estimate(out, {64});
    const Func clone = f.clone_in(h);
    const Built built({out});
    EXPECT_TRUE(built.has_edge(clone, h));
    EXPECT_FALSE(built.has_edge(f, h));
    EXPECT_FALSE(built.has_edge(f, clone));
    EXPECT_FALSE(built.node(clone).is_wrapper);
    EXPECT_EQ(built.node(clone).wrapped_func, built.node(f).id);
}

TEST(Directives, WrappersThatNobodyCallsAreNoFuncs) {
    Func f("f"), stranger("stranger"), out("out");
    f(x) = x;
    stranger(x) = f(x);
    out(x) = f(x) + 1;
    estimate(out, {64});
    f.in(stranger);
    const Built built({out});
    EXPECT_EQ(built.graph().num_funcs(), 2);
    EXPECT_TRUE(built.has_edge(f, out));
}

TEST(Directives, SpecializationsAreListed) {
    Func f("f"), out("out");
    const RDom r(0, 8, "r");
    const Param<bool> a("a"), b("b");
    f(x) = x;
    f(x) += r;
    f.update().specialize(a).specialize(b);
    f.update().specialize(b).specialize_fail("a or b");
    f.update().specialize_fail("neither");
    out(x) = f(x);
    out.specialize(a);
    estimate(out, {64});
    const Built built({out});
    EXPECT_TRUE(built.stage(f).specialized.empty());
    const StageNode &update = built.stage(f, 1);
    ASSERT_EQ(update.specialized.size(), 3u);
    EXPECT_EQ(update.specialized[0].path, (std::vector<int>{0}));
    EXPECT_EQ(update.specialized[1].path, (std::vector<int>{0, 0}));
    EXPECT_EQ(update.specialized[2].path, (std::vector<int>{1}));
    EXPECT_FALSE(update.specialized[0].ends_in_failure);
    EXPECT_TRUE(update.specialized[2].ends_in_failure);
    EXPECT_TRUE(update.ends_in_failure);
    EXPECT_EQ(built.stage(out).specialized.size(), 1u);
    EXPECT_FALSE(built.stage(out).ends_in_failure);
}

TEST(Directives, StorageIsTheUsersChoice) {
    Func f("f"), g("g"), h("h"), out("out");
    f(x, y) = x + y;
    g(x, y) = f(x, y);
    h(x, y) = g(x, y);
    out(x, y) = h(x, y);
    estimate(out, {64, 64});
    f.memoize();
    g.reorder_storage(y, x);
    h.store_in(Halide::MemoryType::Heap);
    const Built built({out});
    EXPECT_TRUE(built.node(f).needs_root());
    EXPECT_FALSE(built.node(f).keeps_storage);
    EXPECT_TRUE(built.node(g).keeps_storage);
    EXPECT_FALSE(built.node(g).needs_root());
    EXPECT_TRUE(built.node(h).needs_root());
}

}  // namespace
}  // namespace anderson2021
