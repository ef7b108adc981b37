// Adam, as the known trainer has it, with clipping.
#pragma once

#include <cstdint>

#include "costmodel/weights.h"

namespace anderson2021 {

/// Steps and moments. One state serves all learning rates of a run.
struct OptimizerState {
    int64_t timestep = 0;
    Weights mean, variance;
};

/// Moves the weights against the gradient. With `clip` > 0, a gradient whose Euclidean norm is
/// larger is scaled down to that norm; not finite ones are ignored. Returns the norm.
double optimizer_step(
    const Weights &gradient, float rate, double clip, OptimizerState &state, Weights &weights);

}  // namespace anderson2021
