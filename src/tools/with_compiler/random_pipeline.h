// Random pipelines: what a cost model learns from without having seen a user's program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Halide.h"

namespace anderson2021 {

/// Outputs, with estimates, of a pipeline of up to 20 stages, made of random steps of the usual
/// kinds: convolutions, pools, resampling, pointwise functions, transposes, reductions, scans,
/// histograms, pyramids. The same seed gives the same pipeline on every machine.
std::vector<Halide::Func> make_random_pipeline(uint32_t seed);

}  // namespace anderson2021
