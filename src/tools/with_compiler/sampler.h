// Many random schedules of one algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "costmodel/weights.h"
#include "device/gpu_device.h"
#include "support/options.h"
#include "training/packed_samples.h"

namespace anderson2021 {

struct SamplingRequest {
    GpuDevice device;
    /// Of the search; seed and number of threads are replaced.
    Options options;
    /// Lead the searches, taken in turn by seed. At least one.
    std::vector<Weights> guides;
    /// The label is the mean of what these predict; none: there are no labels (0 ms).
    std::vector<Weights> teachers;
    int count = 0;
    /// Whole searches for the best schedule instead of single descents.
    bool whole_searches = false;
    int64_t first_seed = 0;
    /// 0: all cores.
    int threads = 0;
};

struct SamplingStatistics {
    int64_t searches = 0;
    int64_t duplicates = 0;
    int64_t failures = 0;
    double seconds = 0;
};

/// The algorithm features of a graph; name, id and origin are the caller's business.
SampledPipeline describe_pipeline(const PipelineGraph &graph, int num_cores);

/// Up to `count` samples of different schedule trees, in order of seeds; fewer if seeds keep
/// leading to known trees. The result does not depend on the number of threads.
std::vector<Sample> sample_schedules(const PipelineGraph &graph,
                                     const SamplingRequest &request,
                                     SamplingStatistics &statistics);

}  // namespace anderson2021
