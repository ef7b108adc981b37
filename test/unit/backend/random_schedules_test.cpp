// Random schedules of the test pipelines, applied, compiled and run: whatever the tree, Halide must
// accept the schedule and compute what the unscheduled pipeline computes, at every size.
//
// ANDERSON_FUZZ_SEEDS=<n> sets the number of schedules per pipeline, ANDERSON_FUZZ_FIRST_SEED the
// first one, ANDERSON_FUZZ_PIPELINE restricts the run to one pipeline, ANDERSON_FUZZ_PRINT shows
// the schedules before they are run.
#include <cstdlib>
#include <gtest/gtest.h>

#include "random_schedule.h"
#include "schedule_checker.h"

namespace anderson2021 {
namespace test {
namespace {

int environment_int(const char *name, int otherwise) {
    const char *text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : otherwise;
}

class RandomSchedules : public testing::TestWithParam<std::string> {};

TEST_P(RandomSchedules, ComputeTheSame) {
    const char *only = std::getenv("ANDERSON_FUZZ_PIPELINE");
    if (only != nullptr && GetParam() != only) {
        GTEST_SKIP();
    }
    if (!has_device()) {
        GTEST_SKIP() << "No device for " << device_target();
    }
    ScheduleChecker checker([] { return make_test_pipeline(GetParam()); });
    const int first = environment_int("ANDERSON_FUZZ_FIRST_SEED", 0);
    const int count = environment_int("ANDERSON_FUZZ_SEEDS", 2);
    for (int seed = first; seed < first + count; seed++) {
        Rng rng(seed);
        const std::string problem = checker.check(
            [&](const LoopNestEditor &editor) { return random_schedule(editor, rng); });
        EXPECT_EQ(problem, "") << GetParam() << " seed " << seed << "\n" << checker.description();
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
