// A folder of schedules that were found before, so that builds that ask again need not search.
//
// A schedule is filed under a fingerprint of all that it depends on: the pipeline's graph, the
// device, the options, the weights and the version of this plugin. Files are written as a whole
// under their final name, so any number of builds can share a folder. A file that cannot be used
// counts as missing.
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
    /// (top_k_path, record_path) or its result can depend on the clock (time_limit_s).
    ScheduleCache(const PipelineGraph &graph,
                  const GpuDevice &device,
                  const Options &options,
                  const Weights &weights);

    bool enabled() const { return !path_.empty(); }
    /// Of the schedule, whether it exists or not.
    const std::string &path() const { return path_; }
    /// The schedule, or nothing if there is none or it is damaged.
    std::optional<LoopNestPtr> find(const LoopNestEditor &editor) const;
    /// Files the schedule, then removes those unused for longest until the folder keeps its limit.
    /// Throws UserError if the folder cannot be written to.
    void store(const LoopNest &schedule) const;

private:
    void remove_surplus() const;

    const PipelineGraph &graph_;
    std::string folder_, path_;
    int64_t limit_bytes_;
};

}  // namespace anderson2021
