#include "search/evaluation_options.h"

#include <memory>

#include "schedule/unknown_sizes.h"

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
    context.register_limit = options.register_limit;
    // Schedules of others are judged as they are.
    if (!context.reference_features && options.partial_schedule_path.empty()) {
        context.following_outputs =
            std::make_shared<const BitSet>(find_funcs_following_outputs(graph));
    }
    return context;
}

}  // namespace anderson2021
