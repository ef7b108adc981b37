#include "costmodel/compiled_call.h"

#include "HalideRuntime.h"

#include "support/error.h"

namespace anderson2021 {

namespace {

// The handler has no context of its own to leave the message in.
thread_local std::string
    last_message;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void keep_message(void *, const char *message) {
    last_message = message;
}

}  // namespace

void install_compiled_error_handler() {
    halide_set_error_handler(keep_message);
}

void check_compiled_call(int status, const char *function) {
    ANDERSON_CHECK(status == 0) << function << " failed: " << last_message;
}

Halide::Runtime::Buffer<float> view_weights(const Weights &weights, size_t i) {
    const WeightBuffer &shape = kWeightBuffers[i];
    const std::vector<int> extents(shape.extents.begin(), shape.extents.begin() + shape.dimensions);
    // Inputs are never written to; the buffer type just cannot say so.
    auto *data = const_cast<float *>(weights.buffers()[i]->data());
    return Halide::Runtime::Buffer<float>(data, extents);
}

}  // namespace anderson2021
