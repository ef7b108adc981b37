// What the evaluation of schedules takes from the options of a run.
#pragma once

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "featurizer/featurizer.h"
#include "pruning/pruner.h"
#include "support/options.h"

namespace anderson2021 {

/// For the Featurizer: multiprocessors, kind of features, verification of its cache.
FeaturizerOptions featurizer_options(const Options &options);

/// For the pruning rules. Refers to `graph` and `device`, which must outlive it.
PruneContext
prune_context(const PipelineGraph &graph, const GpuDevice &device, const Options &options);

}  // namespace anderson2021
