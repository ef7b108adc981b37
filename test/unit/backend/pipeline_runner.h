// Runs test pipelines just in time and compares what they compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Halide.h"

#include "test_pipelines.h"

namespace anderson2021 {
namespace test {

/// Everything that Halide's compiler reports while an object exists; errors become exceptions of
/// type std::runtime_error.
class CompilerMessages {
public:
    CompilerMessages();
    ~CompilerMessages();
    CompilerMessages(const CompilerMessages &) = delete;
    CompilerMessages &operator=(const CompilerMessages &) = delete;

    const std::vector<std::string> &warnings() const { return reporter_.warnings; }
    /// Warnings about assertions that were dropped or cannot hold.
    std::string bad_warnings() const;

private:
    struct Reporter : Halide::CompileTimeErrorReporter {
        void warning(const char *message) override { warnings.emplace_back(message); }
        [[noreturn]] void error(const char *message) override;
        std::vector<std::string> warnings;
    };
    Reporter reporter_;
};

using Image = Halide::Buffer<>;

/// Inputs of exactly the size that the unscheduled pipeline needs for outputs of `extents`, filled
/// with random numbers.
std::vector<Image> make_inputs(TestPipeline &reference, const std::vector<int> &extents);

/// Realizes the outputs at that size from those inputs. Throws std::runtime_error if the pipeline
/// reports an error.
std::vector<Image> run(TestPipeline &p,
                       const std::vector<Image> &inputs,
                       const std::vector<int> &extents,
                       const Halide::Target &target);

/// Empty if all values are equal, else the first difference.
std::string difference(const std::vector<Image> &expected, const std::vector<Image> &actual);

/// Lines of the lowered program that allocate global memory for the threads or blocks of a kernel;
/// empty is good. Lowers for CUDA, as the device under test usually is another one. The program is
/// also written to the file $ANDERSON_FUZZ_STMT, if set.
std::string heap_allocations_in_kernels(const TestPipeline &p);

/// Extents below a tile, odd ones, the estimate, and twice as much.
std::vector<std::vector<int>> run_sizes(const TestPipeline &p);

/// Target of device tests: ANDERSON_TEST_TARGET or host-opencl.
Halide::Target device_target();
/// Whether device_target() can run here; false if no OpenCL platform is installed.
bool has_device();

}  // namespace test
}  // namespace anderson2021
