// Funcs that functions of the program define have no stages to be scheduled.
#include <gtest/gtest.h>

#include "backend/apply_trace.h"
#include "frontend/graph_builder.h"

namespace anderson2021 {
namespace {

using Halide::Func;
using Halide::Var;

TEST(ApplyTrace, ComputesExternFuncsAtTheRoot) {
    const Var x("x");
    Func f("f"), g("g"), out("out");
    f(x) = x;
    g.define_extern("process", {f}, Halide::Int(32), {x});
    out(x) = g(x) + 1;
    out.set_estimate(x, 0, 64);
    const BuiltGraph built = build_graph({out.function()}, Halide::Target("x86-64-linux-cuda"));

    ScheduleTrace trace;
    StageDirectives directives;
    directives.func = built.graph->find_func(g.name());
    directives.directives.emplace_back();
    ASSERT_EQ(directives.directives[0].kind, Directive::Kind::ComputeRoot);
    trace.stages.push_back(directives);
    apply_trace(trace, *built.graph, built.functions);
    EXPECT_EQ(g.function().schedule().compute_level().func_name(),
              Halide::LoopLevel::root().func_name());
    EXPECT_FALSE(g.function().schedule().compute_level().var_name().empty());
}

}  // namespace
}  // namespace anderson2021
