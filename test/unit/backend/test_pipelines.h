// Small pipelines that between them contain every kind of stage, access and extent that lowering
// has to cope with. All arithmetic is on integers, so that results can be compared exactly.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

namespace anderson2021 {
namespace test {

/// One instance of a pipeline; scheduling changes it, so every schedule needs its own.
struct TestPipeline {
    std::vector<Halide::Func> outputs;
    std::vector<Halide::ImageParam> inputs;
    /// Scalar parameters with the values used at run time, which differ from the estimates.
    std::vector<std::pair<Halide::Param<int>, int>> params;
    /// Estimated extents of every output; all outputs have the same number of dimensions.
    std::vector<int> estimate;
    /// Extents of the inputs for given extents of the outputs; if absent, the inputs get exactly
    /// the size that the unscheduled pipeline asks for.
    std::function<std::vector<std::vector<int>>(const std::vector<int> &)> input_extents;
    /// Dimensions whose extent is the same in every run.
    std::vector<int> fixed_dims;

    Halide::Pipeline pipeline() const { return Halide::Pipeline(outputs); }
    std::vector<Halide::Internal::Function> output_functions() const;
    void set_output_estimates();
    /// A schedule for the CPU.
    void compute_everything_at_root();
};

struct TestPipelineFactory {
    std::string name;
    std::function<TestPipeline()> make;
};

const std::vector<TestPipelineFactory> &test_pipelines();
/// The pipeline of that name without a schedule; fails the process if there is none.
TestPipeline make_test_pipeline(const std::string &name);

}  // namespace test
}  // namespace anderson2021
