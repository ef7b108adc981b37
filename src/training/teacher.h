// Labels from given weights instead of measurements.
#pragma once

#include <vector>

#include "costmodel/weights.h"
#include "support/thread_pool.h"
#include "training/dataset.h"

namespace anderson2021 {

/// Replaces run times by the mean of what the teachers predict, and coefficients to be learnt by
/// the mean of theirs. Schedules that a teacher has no positive time for keep the loss finite: they
/// get a tiny one. Call it before inputs are standardized.
void teach(std::vector<Batch> &batches,
           const std::vector<Weights> &teachers,
           bool with_targets,
           ThreadPool &pool);

}  // namespace anderson2021
