// Calling the compiled network: errors and buffers.
#pragma once

#include <string>
#include <vector>

#include "HalideBuffer.h"

#include "costmodel/weights.h"

namespace anderson2021 {

/// Throws InternalError, with the message of the compiled code, unless `status` is 0. The compiled
/// code reports through its runtime, whose default would be to end the process.
void check_compiled_call(int status, const char *function);
/// Routes the runtime's messages to check_compiled_call. Idempotent; call it before the first call.
void install_compiled_error_handler();

/// A view of buffer i of the weights with its proper shape. The compiled code only reads it.
Halide::Runtime::Buffer<float> view_weights(const Weights &weights, size_t i);

}  // namespace anderson2021
