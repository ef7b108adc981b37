#include "pipeline_runner.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace anderson2021 {
namespace test {

namespace {

/// Error handler of pipelines that run: without one the process would end.
struct JitContext : Halide::JITUserContext {
    JitContext() : Halide::JITUserContext() {
        handlers.custom_error = [](Halide::JITUserContext *context, const char *message) {
            static_cast<JitContext *>(context)->error += message;
        };
    }
    std::string error;
};

Halide::Realization make_outputs(const TestPipeline &p, const std::vector<int> &extents) {
    std::vector<Image> buffers;
    for (const Halide::Func &f : p.outputs) {
        for (const Halide::Type &t : f.types()) {
            buffers.emplace_back(t, extents);
        }
    }
    return Halide::Realization(std::move(buffers));
}

void set_params(TestPipeline &p) {
    for (auto &[param, value] : p.params) {
        param.set(value);
    }
}

template<typename T>
std::string first_difference(const Image &expected, const Image &actual) {
    const Halide::Buffer<T> a = expected.as<T>(), b = actual.as<T>();
    std::ostringstream text;
    int64_t count = 0;
    a.for_each_element([&](const int *pos) {
        if (a(pos) != b(pos)) {
            if (count == 0) {
                text << "at (";
                for (int d = 0; d < a.dimensions(); d++) {
                    text << (d > 0 ? ", " : "") << pos[d];
                }
                text << "): " << +a(pos) << " expected, " << +b(pos) << " found";
            }
            count++;
        }
    });
    if (count > 0) {
        text << "; " << count << " of " << a.number_of_elements() << " values differ";
    }
    return text.str();
}

}  // namespace

CompilerMessages::CompilerMessages() {
    Halide::set_custom_compile_time_error_reporter(&reporter_);
}

CompilerMessages::~CompilerMessages() {
    Halide::set_custom_compile_time_error_reporter(nullptr);
}

void CompilerMessages::Reporter::error(const char *message) {
    throw std::runtime_error(message);
}

std::string CompilerMessages::bad_warnings() const {
    for (const std::string &w : reporter_.warnings) {
        if (w.find("Ignoring assertion") != std::string::npos ||
            w.find("guaranteed to fail") != std::string::npos ||
            w.find("has not been scheduled") != std::string::npos) {
            return w;
        }
    }
    return "";
}

std::vector<Image> make_inputs(TestPipeline &reference, const std::vector<int> &extents) {
    set_params(reference);
    for (Halide::ImageParam &in : reference.inputs) {
        in.reset();
    }
    std::vector<Image> inputs;
    if (reference.input_extents) {
        const std::vector<std::vector<int>> sizes = reference.input_extents(extents);
        for (size_t i = 0; i < sizes.size(); i++) {
            inputs.emplace_back(reference.inputs[i].type(), sizes[i]);
        }
    } else {
        Halide::Realization outputs = make_outputs(reference, extents);
        reference.pipeline().infer_input_bounds(outputs);
        for (Halide::ImageParam &in : reference.inputs) {
            inputs.push_back(in.get());
        }
    }
    std::mt19937 rng(1);
    for (Image &image : inputs) {
        uint8_t *bytes = static_cast<uint8_t *>(image.data());
        for (size_t i = 0; i < image.size_in_bytes(); i++) {
            bytes[i] = static_cast<uint8_t>(rng());
        }
    }
    return inputs;
}

std::vector<Image> run(TestPipeline &p,
                       const std::vector<Image> &inputs,
                       const std::vector<int> &extents,
                       const Halide::Target &target) {
    set_params(p);
    for (size_t i = 0; i < inputs.size(); i++) {
        Image in = inputs[i].copy();
        p.inputs[i].set(in);
    }
    Halide::Realization outputs = make_outputs(p, extents);
    JitContext context;
    p.pipeline().realize(&context, outputs, target);
    if (!context.error.empty()) {
        throw std::runtime_error(context.error);
    }
    std::vector<Image> images;
    for (size_t i = 0; i < outputs.size(); i++) {
        outputs[i].copy_to_host();
        images.push_back(outputs[i]);
    }
    return images;
}

std::string difference(const std::vector<Image> &expected, const std::vector<Image> &actual) {
    for (size_t i = 0; i < expected.size(); i++) {
        const std::string d = first_difference<int32_t>(expected[i], actual[i]);
        if (!d.empty()) {
            return "output " + std::to_string(i) + " " + d;
        }
    }
    return "";
}

std::string heap_allocations_in_kernels(const TestPipeline &p) {
    const char *path = std::getenv("ANDERSON_FUZZ_STMT");
    const std::string file =
        path != nullptr ? path : Halide::Internal::file_make_temp("anderson", ".stmt");
    p.pipeline().compile_to_lowered_stmt(
        file, p.pipeline().infer_arguments(), Halide::Text, Halide::Target("host-cuda"));
    std::ifstream in(file);
    std::string found, line;
    // Such allocations are named after the Func and a number within the kernel.
    const std::regex pattern("allocate \\S*\\.[0-9]+\\.buffer\\[.*");
    while (std::getline(in, line)) {
        std::smatch match;
        if (line.find("allocate ") != std::string::npos &&
            std::regex_search(line, match, pattern)) {
            found += match.str() + "\n";
        }
    }
    if (path == nullptr) {
        std::remove(file.c_str());
    }
    return found;
}

std::vector<std::vector<int>> run_sizes(const TestPipeline &p) {
    std::vector<std::vector<int>> sizes(4, p.estimate);
    for (size_t d = 0; d < p.estimate.size(); d++) {
        bool fixed = false;
        for (const int f : p.fixed_dims) {
            fixed = fixed || static_cast<size_t>(f) == d;
        }
        if (!fixed) {
            sizes[1][d] = 3 + static_cast<int>(d);
            sizes[2][d] = p.estimate[d] * 2 / 3 + 1;
            sizes[3][d] = p.estimate[d] * 2 - 1;
        }
    }
    return sizes;
}

Halide::Target device_target() {
    const char *name = std::getenv("ANDERSON_TEST_TARGET");
    return Halide::Target(name != nullptr ? name : "host-opencl");
}

bool has_device() {
    // PoCL 3.1 miscompiles guarded loops inside kernels with barriers unless told not to optimize;
    // that also makes compilation faster. Read when the first kernel is built.
    setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
    return Halide::host_supports_target_device(device_target());
}

}  // namespace test
}  // namespace anderson2021
