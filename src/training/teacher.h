// Labels from given weights instead of measurements.
#pragma once

#include <vector>

#include "costmodel/weights.h"
#include "support/thread_pool.h"
#include "training/dataset.h"

namespace anderson2021 {

/// Sets run times of a unit to the mean of what the teachers predict, and with `with_targets` its
/// coefficients to be learnt to the mean of theirs. Not for standardized inputs.
void teach(Unit &unit, const std::vector<Network> &teachers, bool with_targets);

/// Replaces run times by the mean of what the teachers predict, and coefficients to be learnt by
/// the mean of theirs. Schedules that a teacher has no positive time for keep the loss finite: they
/// get a tiny one. Call it before inputs are standardized.
void teach(std::vector<Batch> &batches,
           const std::vector<Weights> &teachers,
           bool with_targets,
           ThreadPool &pool);

}  // namespace anderson2021
