// A folder of schedules that were found before, so that builds that ask again need not search.
//
// A schedule is filed under a fingerprint of all that it depends on: the pipeline's graph, the
// target, the device, the options that have a say in the search, the weights' contents, the
// contents of a partial schedule, and the version of this plugin. Files appear as a whole under
// their final name, so any number of builds can share a folder; builds that ask at the same time
// all search, and find the same. Each file has a checksum; one that is damaged, cut off or of
// another version counts as missing and is replaced. A folder that cannot be written to is a
// warning, as is all that goes wrong here: schedules are then simply searched for.
#pragma once

#include <optional>
#include <string>

#include "algorithm/pipeline_graph.h"
#include "costmodel/weights.h"
#include "device/gpu_device.h"
#include "schedule/loop_nest_editor.h"
#include "support/options.h"

namespace anderson2021 {

class ScheduleCache {
public:
    /// Of option cache_dir; off if that is empty, or if the run is about more than its schedule
    /// (top_k_path, record_path), or its result can depend on the clock (time_limit_s) or on a user
    /// (by_hand).
    ScheduleCache(const PipelineGraph &graph,
                  const GpuDevice &device,
                  const Options &options,
                  const Weights &weights,
                  const std::string &target);

    bool enabled() const { return !path_.empty(); }
    /// Of the schedule, whether it exists or not.
    const std::string &path() const { return path_; }
    /// The schedule, or nothing if there is none or it is damaged.
    std::optional<LoopNestPtr> find(const LoopNestEditor &editor) const;
    /// Files the schedule, then removes those unused for longest until the folder keeps its limit;
    /// the new one always stays. Logs a warning, at any log level, if the folder cannot be written.
    void store(const LoopNest &schedule) const;

private:
    void remove_surplus() const;

    const PipelineGraph &graph_;
    std::string folder_, path_;
    int64_t limit_bytes_;
};

}  // namespace anderson2021
