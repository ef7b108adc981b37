#include "search/evaluation_options.h"

namespace anderson2021 {

FeaturizerOptions featurizer_options(const Options &options) {
    FeaturizerOptions result;
    result.parallelism = static_cast<int>(options.parallelism);
    result.reference_features = options.reference_features != 0;
    result.verify_cache = options.verify_feature_cache != 0;
    return result;
}

PruneContext
prune_context(const PipelineGraph &graph, const GpuDevice &device, const Options &options) {
    PruneContext context{graph, device};
    context.stack_factor = options.stack_factor;
    context.reference_features = options.reference_features != 0;
    return context;
}

}  // namespace anderson2021
