// Whether a schedule compiles is found out on copies of the Funcs.
#include <gtest/gtest.h>

#include "backend/apply_trace.h"
#include "backend/trial.h"
#include "directive_fixtures.h"
#include "frontend/graph_builder.h"

namespace anderson2021 {
namespace {

using Halide::Func;
using Halide::Var;
using test::call;
using Kind = Directive::Kind;

class Trial : public ::testing::Test {
protected:
    Trial() : target_("x86-64-linux-cuda-cuda_capability_70") {
        f_(x_) = x_ * x_;
        out_(x_) = f_(x_) + f_(x_ + 1);
        out_.set_estimate(x_, 0, 1024);
        outputs_ = {out_.function()};
        built_ = build_graph(outputs_, target_);
        schedule(out_,
                 {call(Kind::ComputeRoot),
                  call(Kind::Split, {"x", "x", "xi"}, 32),
                  call(Kind::GpuBlocks, {"x"}),
                  call(Kind::GpuThreads, {"xi"})});
    }
    void schedule(const Func &f, const std::vector<Directive> &calls) {
        StageDirectives stage;
        stage.func = built_.graph->find_func(f.name());
        stage.directives = calls;
        trace_.stages.push_back(stage);
    }
    std::string attempt(TrialDepth depth) const {
        return try_trace(trace_, {*built_.graph, built_.functions, outputs_, target_}, depth);
    }

    const Var x_{"x"};
    const Halide::Target target_;
    Func f_{"f"}, out_{"out"};
    std::vector<Halide::Internal::Function> outputs_;
    BuiltGraph built_;
    ScheduleTrace trace_;
};

TEST_F(Trial, LeavesTheFuncsAlone) {
    schedule(f_, {call(Kind::ComputeRoot), call(Kind::GpuSingleThread)});
    EXPECT_EQ(attempt(TrialDepth::Calls), "");
    EXPECT_EQ(attempt(TrialDepth::Loops), "");
    EXPECT_TRUE(out_.function().definition().schedule().splits().empty());
    EXPECT_TRUE(f_.function().schedule().compute_level().func_name().empty());
    // The same again, this time for good.
    apply_trace(trace_, *built_.graph, built_.functions);
    EXPECT_EQ(out_.function().definition().schedule().splits().size(), 1u);
    out_.compile_to_module({}, "out", target_);
}

TEST_F(Trial, ReportsWhatACallComplainsOf) {
    schedule(f_, {call(Kind::ComputeRoot), call(Kind::GpuBlocks, {"nothing"})});
    const std::string fault = attempt(TrialDepth::Calls);
    EXPECT_NE(fault.find("nothing"), std::string::npos) << fault;
    EXPECT_NE(fault.find("f"), std::string::npos) << fault;
}

// The compiler notices only when it makes the loops.
TEST_F(Trial, ReportsWhatLoweringComplainsOf) {
    Directive inside = call(Kind::ComputeAt, {"xi"});
    inside.at_func = built_.graph->find_func(out_.name());
    schedule(f_, {inside, call(Kind::GpuBlocks, {"x"})});
    EXPECT_EQ(attempt(TrialDepth::Calls), "");
    const std::string fault = attempt(TrialDepth::Loops);
    EXPECT_NE(fault.find(f_.name() + ".s0.x"), std::string::npos) << fault;
}

}  // namespace
}  // namespace anderson2021
