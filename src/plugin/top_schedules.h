// Writes the best schedules that a search found as files, for programs that try them all.
#pragma once

#include <string>

#include "device/gpu_device.h"
#include "search/search.h"
#include "support/options.h"

namespace anderson2021 {

/// Throws UserError if several schedules are asked for, but not where to put them.
void check_top_schedules(const Options &options);

/// For each schedule of `found.top`, with its rank counted from 0:
///   <prefix>.<rank>.schedule.h     a header with the function apply_schedule_<name>, where <name>
///   is
///                                  the last part of the prefix
///   <prefix>.<rank>.featurization  its features, in the format of the results of a run
///   <prefix>.<rank>.tree           the schedule tree, as option partial_schedule_path reads it
///   <prefix>.<rank>.cost           predicted run time in ms, as text
/// Each file is written as a whole or not at all. Throws UserError if one cannot be written.
void write_top_schedules(const SearchResult &found,
                         const PipelineGraph &graph,
                         const GpuDevice &device,
                         const std::string &prefix);

}  // namespace anderson2021
