#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "lowering/lower_schedule.h"
#include "lowering/trace_check.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

using Kind = Directive::Kind;

VarRef var(const std::string &name) {
    return {name, false, -1};
}

Directive call(Kind kind, const std::vector<std::string> &vars = {}, int64_t factor = 0) {
    Directive d;
    d.kind = kind;
    d.factor = factor;
    for (const std::string &name : vars) {
        d.vars.push_back(var(name));
    }
    return d;
}

// One Func out(x, y) of 64 x 64 points, and its schedule.
class TraceCheck : public ::testing::Test {
protected:
    TraceCheck()
        : graph_(GraphBuilder().func("out", {"x", "y"}).output({64, 64}).build()),
          kernel_({call(Kind::ComputeRoot),
                   call(Kind::Split, {"x", "x", "xi"}, 32),
                   call(Kind::Reorder, {"xi", "x", "y"}),
                   call(Kind::GpuBlocks, {"x"}),
                   call(Kind::GpuBlocks, {"y"}),
                   call(Kind::GpuThreads, {"xi"})}) {}

    std::string check(const std::vector<Directive> &calls) const {
        StageDirectives stage;
        stage.func = 0;
        stage.directives = calls;
        ScheduleTrace trace;
        trace.stages.push_back(stage);
        return check_trace(trace, graph_, device_);
    }
    // The calls above, one of them exchanged.
    std::string check_with(size_t at, const Directive &d) const {
        std::vector<Directive> calls = kernel_;
        calls[at] = d;
        return check(calls);
    }
    std::string check_with_more(const std::vector<Directive> &more) const {
        std::vector<Directive> calls = kernel_;
        calls.insert(calls.end(), more.begin(), more.end());
        return check(calls);
    }

    PipelineGraph graph_;
    GpuDevice device_;
    std::vector<Directive> kernel_;
};

TEST_F(TraceCheck, AcceptsAKernel) {
    EXPECT_EQ(check(kernel_), "");
}

TEST_F(TraceCheck, FaultsOfSingleCalls) {
    EXPECT_EQ(check_with(1, call(Kind::Split, {"z", "x", "xi"}, 32)), "out: there is no loop z");
    EXPECT_EQ(check_with(1, call(Kind::Split, {"x", "y", "xi"}, 32)),
              "out: there is a loop y already");
    EXPECT_EQ(check_with(1, call(Kind::Split, {"x", "x", "xi"}, 0)), "out: split of x by 0");
    EXPECT_EQ(check_with(2, call(Kind::Reorder, {"xi", "x", "xi"})), "out: reorder names xi twice");
    EXPECT_EQ(check_with(2, call(Kind::Reorder, {"xi"})), "out: reorder of one loop");
    EXPECT_EQ(check_with(2, call(Kind::Fuse, {"x", "x", "x"})), "out: fuse of x and x");
    EXPECT_EQ(check_with(2, call(Kind::Fuse, {"x", "y", "xi"})), "out: there is a loop xi already");
    EXPECT_EQ(check_with_more({call(Kind::GpuBlocks, {"x"})}), "out: x is marked twice");
    EXPECT_EQ(check_with_more({call(Kind::Unroll, {"z"})}), "out: there is no loop z");
}

TEST_F(TraceCheck, LimitsOfTheDevice) {
    EXPECT_EQ(check_with(1, call(Kind::Split, {"x", "x", "xi"}, 2048)),
              "out: 2048 threads along xi");
    device_.max_thread_extent[0] = 4096;
    EXPECT_EQ(check_with(1, call(Kind::Split, {"x", "x", "xi"}, 2048)), "out: 2048 threads");
}

TEST_F(TraceCheck, LoopsOfBlocksFollowEachOther) {
    // Threads between the two loops of blocks.
    EXPECT_EQ(check_with(2, call(Kind::Reorder, {"x", "xi", "y"})),
              "out: x is a loop of blocks inside a loop of a block");
    // A serial loop between them.
    EXPECT_EQ(check({call(Kind::ComputeRoot),
                     call(Kind::Split, {"y", "y", "yi"}, 4),
                     call(Kind::Reorder, {"x", "yi", "y"}),
                     call(Kind::GpuBlocks, {"x"}),
                     call(Kind::GpuBlocks, {"y"})}),
              "out: x is a loop of blocks inside a loop of a block");
    // One turn is no loop.
    EXPECT_EQ(check({call(Kind::ComputeRoot),
                     call(Kind::Split, {"y", "y", "yi"}, 1),
                     call(Kind::Reorder, {"x", "yi", "y"}),
                     call(Kind::GpuBlocks, {"x"}),
                     call(Kind::GpuBlocks, {"y"})}),
              "");
}

TEST_F(TraceCheck, KernelsAreLaunchedOnce) {
    EXPECT_EQ(check({call(Kind::ComputeRoot),
                     call(Kind::Split, {"y", "y", "yi"}, 4),
                     call(Kind::Reorder, {"x", "y", "yi"}),
                     call(Kind::GpuBlocks, {"x"}),
                     call(Kind::GpuBlocks, {"y"})}),
              "out: the loop yi launches its kernel again and again");
}

TEST_F(TraceCheck, EverythingAtTheRootIsAKernel) {
    EXPECT_EQ(check({call(Kind::ComputeRoot)}), "out runs outside of kernels");
    EXPECT_EQ(check({call(Kind::ComputeRoot), call(Kind::GpuSingleThread)}), "");
}

// Functions of the program run where the program runs.
TEST_F(TraceCheck, ExternStagesNeedNoKernel) {
    graph_.funcs[0].is_extern = true;
    EXPECT_EQ(check({call(Kind::ComputeRoot)}), "");
}

TEST(TraceCheckOfPipelines, PlacesOfFuncs) {
    const Pipeline p(stencil_graph());
    const ScheduleTrace good = lower_schedule(*p.tree(R"(
h 64 (0, 0) t gpu_block
 g 18 (0, 0) t gpu_thread
  g 1 (0, 0) t gpu_serial
   g 1 (0, 0) * gpu_simd
    inlined: f 3
 h 16 (0, 0) t gpu_thread
  h 1 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)"),
                                              p.graph,
                                              GpuDevice());
    ASSERT_EQ(check_trace(good, p.graph, GpuDevice()), "");
    ASSERT_EQ(good.stages.size(), 2u);
    ASSERT_EQ(good.stages[1].func, 1);

    ScheduleTrace twice = good;
    twice.stages.push_back(good.stages[1]);
    EXPECT_EQ(check_trace(twice, p.graph, GpuDevice()), "g is scheduled twice");

    ScheduleTrace elsewhere = good;
    ASSERT_EQ(elsewhere.stages[1].directives[0].kind, Kind::ComputeAt);
    elsewhere.stages[1].directives[0].at_func = 1;
    EXPECT_EQ(check_trace(elsewhere, p.graph, GpuDevice()),
              "g is computed in a Func that does not read it");

    ScheduleTrace nested = good;
    nested.stages[1].directives.push_back(call(Kind::GpuSingleThread));
    EXPECT_EQ(check_trace(nested, p.graph, GpuDevice()), "g has a kernel inside another");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
