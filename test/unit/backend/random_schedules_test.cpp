// Random schedules of the test pipelines, applied, compiled and run: whatever the tree, Halide must
// accept the schedule and compute what the unscheduled pipeline computes, at every size.
//
// ANDERSON_FUZZ_SEEDS=<n> sets the number of schedules per pipeline, ANDERSON_FUZZ_FIRST_SEED the
// first one, ANDERSON_FUZZ_PIPELINE restricts the run to one pipeline, ANDERSON_FUZZ_PRINT shows
// the schedules before they are run.
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

#include "backend/apply_trace.h"
#include "frontend/graph_builder.h"
#include "lowering/lower_schedule.h"
#include "pipeline_runner.h"
#include "random_schedule.h"
#include "schedule/nest_verifier.h"
#include "schedule/schedule_text.h"

namespace anderson2021 {
namespace test {
namespace {

int environment_int(const char *name, int otherwise) {
    const char *text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : otherwise;
}

struct Expected {
    std::vector<Image> inputs, outputs;
};

class RandomSchedules : public testing::TestWithParam<std::string> {
protected:
    /// Results of the unscheduled pipeline per size.
    std::vector<Expected> expected_;

    void SetUp() override {
        const char *only = std::getenv("ANDERSON_FUZZ_PIPELINE");
        if (only != nullptr && GetParam() != only) {
            GTEST_SKIP();
        }
        TestPipeline reference = make_reference_pipeline(GetParam());
        for (const std::vector<int> &extents : run_sizes(reference)) {
            Expected e;
            e.inputs = make_inputs(reference, extents);
            e.outputs = run(reference, e.inputs, extents, Halide::get_host_target());
            expected_.push_back(std::move(e));
        }
    }

    void run_seed(int seed) {
        TestPipeline p = make_test_pipeline(GetParam());
        const BuiltGraph built = build_graph(p.output_functions(), device_target());
        RegionStore store(*built.graph);
        const LoopNestEditor editor(store);
        Rng rng(seed);
        const LoopNestPtr root = random_schedule(editor, rng);
        const GpuDevice device;
        const ScheduleTrace trace = lower_schedule(*root, *built.graph, device);
        const std::string description = GetParam() + " seed " + std::to_string(seed) + "\n" +
                                        print_schedule(*root, *built.graph) +
                                        print_trace(trace, *built.graph);
        SCOPED_TRACE(description);
        if (std::getenv("ANDERSON_FUZZ_PRINT") != nullptr) {
            std::cout << description << std::flush;
        }
        if (const auto broken = verify_schedule(*root, *built.graph, device)) {
            FAIL() << *broken;
        }
        try {
            const CompilerMessages messages;
            apply_trace(trace, *built.graph, built.functions);
            EXPECT_EQ(heap_allocations_in_kernels(p), "");
            p.pipeline().compile_jit(device_target());
            EXPECT_EQ(messages.bad_warnings(), "");
            const std::vector<std::vector<int>> sizes = run_sizes(p);
            for (size_t i = 0; i < sizes.size(); i++) {
                const std::vector<Image> actual =
                    run(p, expected_[i].inputs, sizes[i], device_target());
                EXPECT_EQ(difference(expected_[i].outputs, actual), "") << "size " << i;
            }
        } catch (const std::exception &e) {
            FAIL() << e.what();
        }
    }
};

TEST_P(RandomSchedules, ComputeTheSame) {
    if (!has_device()) {
        GTEST_SKIP() << "No device for " << device_target();
    }
    const int first = environment_int("ANDERSON_FUZZ_FIRST_SEED", 0);
    const int count = environment_int("ANDERSON_FUZZ_SEEDS", 3);
    for (int seed = first; seed < first + count; seed++) {
        run_seed(seed);
        if (HasFatalFailure()) {
            return;
        }
    }
}

std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const TestPipelineFactory &f : test_pipelines()) {
        result.push_back(f.name);
    }
    return result;
}

INSTANTIATE_TEST_SUITE_P(Pipelines, RandomSchedules, testing::ValuesIn(names()), [](const auto &p) {
    return p.param;
});

}  // namespace
}  // namespace test
}  // namespace anderson2021
