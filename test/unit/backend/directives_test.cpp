// Schedules of Funcs about which the user has something to say.
#include <gtest/gtest.h>

#include "backend/apply_trace.h"
#include "backend/trial.h"
#include "directive_fixtures.h"
#include "frontend/graph_builder.h"
#include "lowering/lower_schedule.h"

namespace anderson2021 {
namespace {

using Halide::Func;
using Halide::Param;
using Halide::Var;
using test::call;
using Kind = Directive::Kind;

std::vector<Directive> kernel(int64_t threads) {
    return {call(Kind::Split, {"x", "x", "xi"}, threads),
            call(Kind::GpuBlocks, {"x"}),
            call(Kind::GpuThreads, {"xi"})};
}

class UsersDirectives : public ::testing::Test {
protected:
    UsersDirectives() : target_("x86-64-linux-cuda-cuda_capability_70") {
        f_(x_) = x_ * x_;
        out_(x_) = f_(x_) + f_(x_ + 1);
        out_.set_estimate(x_, 0, 1024);
        outputs_ = {out_.function()};
    }
    void build() { built_ = build_graph(outputs_, target_); }
    /// At the root, with 32 threads per block, and with 64 if the output is large.
    void schedule(const Func &f, bool specialize) {
        StageDirectives stage;
        stage.func = built_.graph->find_func(f.name());
        stage.directives = {call(Kind::ComputeRoot)};
        for (const Directive &d : kernel(32)) {
            stage.directives.push_back(d);
        }
        if (specialize) {
            const int out = built_.graph->find_func(out_.name());
            stage.specialization = Specialization{{{out, 0, 64}}, kernel(64)};
        }
        trace_.stages.push_back(stage);
    }
    std::string text() const { return print_trace(trace_, *built_.graph); }
    void apply() {
        const TrialPipeline pipeline{*built_.graph, built_.functions, outputs_, target_};
        ASSERT_EQ(try_trace(trace_, pipeline, TrialDepth::Loops), "");
        apply_trace(trace_, *built_.graph, built_.functions);
    }

    const Var x_{"x"};
    const Halide::Target target_;
    Func f_{"f"}, out_{"out"};
    std::vector<Halide::Internal::Function> outputs_;
    BuiltGraph built_;
    ScheduleTrace trace_;
};

size_t count(const std::string &text, const std::string &part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        found++;
    }
    return found;
}

TEST_F(UsersDirectives, SpecializationsGetTheSchedule) {
    const Param<int> p("p");
    out_.specialize(p == 1).specialize(p == 2);
    build();
    schedule(out_, true);
    apply();
    const auto &variants = out_.function().definition().specializations();
    ASSERT_EQ(variants.size(), 2u);  // The user's, and one for large outputs.
    const auto &inner = variants[0].definition.specializations();
    ASSERT_EQ(inner.size(), 2u);
    for (const auto *def :
         {&variants[0].definition, &variants[1].definition, &inner[0].definition}) {
        ASSERT_EQ(def->schedule().splits().size(), 1u);
        EXPECT_EQ(def->schedule().dims()[1].for_type, Halide::Internal::ForType::GPUBlock);
    }
    const std::string printed = text();
    EXPECT_EQ(count(printed, ".specializations()[0].definition, 0)\n    .split"), 2u) << printed;
    EXPECT_EQ(count(printed, ".specializations()[0].definition.specializations()[0].definition"),
              2u)
        << printed;
    EXPECT_EQ(count(printed, ".compute_root()"), 1u) << printed;
    EXPECT_EQ(count(printed, ".gpu_blocks("), 6u) << printed;
}

// No variant may follow a failure.
TEST_F(UsersDirectives, NothingComesAfterAFailure) {
    const Param<int> p("p");
    out_.specialize(p == 1);
    out_.specialize_fail("p is not 1");
    build();
    schedule(out_, true);
    apply();
    const auto &variants = out_.function().definition().specializations();
    ASSERT_EQ(variants.size(), 2u);
    EXPECT_EQ(variants[0].definition.specializations().size(), 1u);
    EXPECT_EQ(count(text(), ".specialize("), 1u) << text();
}

TEST_F(UsersDirectives, WrappersAreScheduledLikeOtherFuncs) {
    const Func wrapper = f_.in(out_);
    build();
    schedule(out_, false);
    schedule(wrapper, false);
    apply();
    EXPECT_EQ(wrapper.function().definition().schedule().splits().size(), 1u);
    EXPECT_FALSE(wrapper.function().schedule().compute_level().var_name().empty());
    const std::string printed = text();
    EXPECT_EQ(count(printed, ".function().schedule().wrappers().at("), 1u) << printed;
    EXPECT_EQ(count(printed, "pipeline.get_func(0)"), 1u) << printed;
    EXPECT_EQ(count(printed, "pipeline.get_func(1)"), 1u) << printed;
}

}  // namespace
}  // namespace anderson2021
