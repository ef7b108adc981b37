// Random pipeline graphs of every shape that the frontend can hand down, made without the compiler.
#pragma once

#include <cstdint>

#include "algorithm/pipeline_graph.h"

namespace anderson2021 {
namespace test {

/// 1 to 12 Funcs of 0 to 6 dimensions each; extents from 1 to 10,000,000, often primes; windows,
/// transposes, strides, look-ups, several outputs, updates with and without loops, in order and in
/// any order, scatters. The same seed gives the same graph.
PipelineGraph fuzz_graph(uint32_t seed);

}  // namespace test
}  // namespace anderson2021
