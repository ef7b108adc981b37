// A folder of schedules that were found before, so that builds that ask again need not search.
//
// A schedule is filed under a fingerprint of all that it depends on: the user's pipeline (its
// graph, and which long reductions could be split), the target, the device, the options that have a
// say in the search, the weights' contents, the contents of a partial schedule, and the version of
// this plugin. Files appear as a whole under their final name, so any number of builds can share a
// folder; builds that ask at the same time all search, and find the same. Each file has a checksum;
// one that is damaged, cut off or of another version counts as missing and is replaced. A folder
// that cannot be written to is a warning, as is all that goes wrong here: schedules are then simply
// searched for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "costmodel/weights.h"
#include "device/gpu_device.h"
#include "plugin/reduction_plan.h"
#include "schedule/loop_nest.h"
#include "schedule/schedule_parser.h"
#include "support/options.h"

namespace anderson2021 {

/// What a file says.
struct CachedSchedule {
    /// Of the variant that the schedule is for.
    std::vector<ReductionParts> parts;
    ParsedSchedule schedule;
};

/// All that a schedule depends on.
struct CacheKey {
    /// Of the user's own pipeline.
    const PipelineGraph &graph;
    /// Of what could be split in it.
    std::string splits;
    const GpuDevice &device;
    const Options &options;
    const Weights &weights;
    std::string target;
};

class ScheduleCache {
public:
    /// Of option cache_dir; off if that is empty, or if the run is about more than its schedule
    /// (top_k_path, record_path), or its result can depend on the clock (time_limit_s) or on a user
    /// (by_hand).
    explicit ScheduleCache(const CacheKey &key);

    bool enabled() const { return !path_.empty(); }
    /// Of the schedule, whether it exists or not.
    const std::string &path() const { return path_; }
    /// Calls `use` with the schedule. False if there is none, or it is damaged, or `use` throws
    /// UserError or InternalError, as it cannot be used; the log says so.
    bool find(const std::function<void(const CachedSchedule &)> &use) const;
    /// Files the schedule, then removes those unused for longest until the folder keeps its limit;
    /// the new one always stays. Logs a warning, at any log level, if the folder cannot be written.
    /// @param graph, parts  of the variant that the schedule is for
    void store(const LoopNest &schedule,
               const PipelineGraph &graph,
               const std::vector<ReductionParts> &parts) const;

private:
    void remove_surplus() const;

    std::string folder_, path_;
    int64_t limit_bytes_;
};

}  // namespace anderson2021
