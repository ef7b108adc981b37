// The bytes of baseline.weights, generated into a source file by the build.
#pragma once

#include <cstddef>

namespace anderson2021 {

extern const unsigned char kBuiltinWeightsBytes[];
extern const size_t kBuiltinWeightsSize;

}  // namespace anderson2021
