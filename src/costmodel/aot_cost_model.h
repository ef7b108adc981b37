// The cost model on the network that the build compiles.
#pragma once

#include <memory>

#include "costmodel/cost_model.h"
#include "costmodel/weights.h"

namespace anderson2021 {

/// Predictions have the same bits whatever batch a row is in, and on whatever processor. Calls of
/// predict() only read the model, so several threads may share one between two calls of begin().
std::unique_ptr<CostModel> make_aot_cost_model(const Weights &weights);

}  // namespace anderson2021
