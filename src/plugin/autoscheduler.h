// One run of the autoscheduler, from the user's pipeline to the applied schedule.
#pragma once

#include "Halide.h"

#include "plugin/options_parser.h"

namespace anderson2021 {

/// Schedules the pipeline for the target's GPU and fills `results` with the schedule's source, its
/// featurization and the parameters.
///
/// The pipeline is changed only after a complete schedule has been found and verified. Throws
/// UserError for the user's mistakes (target without GPU, missing estimates, existing schedules,
/// options, weights) and InternalError for ours.
void run_autoscheduler(const Halide::Pipeline &pipeline,
                       const Halide::Target &target,
                       const Halide::AutoschedulerParams &parameters,
                       const Environment &environment,
                       Halide::AutoSchedulerResults *results);

}  // namespace anderson2021
