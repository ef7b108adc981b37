// What a back end of the compiler does not survive.
#pragma once

#include <vector>

#include "Halide.h"

namespace anderson2021 {

/// Throws UserError if the Funcs use a type with which the compiler would end the process instead
/// of reporting an error: bfloat16 on CUDA, whatever the schedule.
void require_types_of_back_end(const std::vector<Halide::Internal::Function> &functions,
                               const Halide::Target &target);

}  // namespace anderson2021
