// Applies schedules to a pipeline and compares what it computes with the unscheduled pipeline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline_runner.h"
#include "schedule/loop_nest_editor.h"

namespace anderson2021 {
namespace test {

class ScheduleChecker {
public:
    /// `make` builds the pipeline without schedule and estimates of its outputs.
    explicit ScheduleChecker(std::function<TestPipeline()> make);

    /// Makes a tree, lowers, applies, compiles and runs it at all of run_sizes(). Returns the first
    /// problem: an unsound tree, an error or bad warning of the compiler, global memory used by
    /// threads, a different result; empty if there is none.
    std::string check(const std::function<LoopNestPtr(const LoopNestEditor &)> &make_tree);

    /// The tree and the printed schedule of the last check.
    const std::string &description() const { return description_; }

private:
    struct Expected {
        std::vector<Image> inputs, outputs;
    };

    std::string compare_at_all_sizes(TestPipeline &p) const;

    std::function<TestPipeline()> make_;
    /// Results of the unscheduled pipeline, one per size.
    std::vector<Expected> expected_;
    std::string description_;
};

}  // namespace test
}  // namespace anderson2021
