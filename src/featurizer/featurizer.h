// From a schedule tree to the features of its stages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "features/feature_matrix.h"
#include "featurizer/block_features.h"
#include "featurizer/feature_cache.h"
#include "featurizer/outside_layout.h"
#include "featurizer/state_reduction.h"
#include "schedule/loop_nest.h"
#include "schedule/loop_nest_editor.h"

namespace anderson2021 {

struct FeaturizerOptions {
    /// Number of multiprocessors the work is spread over (`parallelism`).
    int parallelism = 16;
    /// Reproduce the store sets of the reference plugin instead of those that the weights were
    /// trained with.
    bool reference_features = false;
    /// Recompute every cached block from scratch and throw InternalError on any difference.
    bool verify_cache = false;
};

/// Result of featurizing a tree: features, or why it has none.
struct Featurization {
    FeatureMatrix features;
    /// Func stored in a thread that cannot be promoted to registers; features are empty then.
    std::optional<int> unpromotable_func;
};

/// Counters since construction.
struct FeaturizerStats {
    int64_t featurizations = 0;
    int64_t cache_hits = 0;
    int64_t cache_misses = 0;
};

/// Thread-safe: any number of threads may call its functions at once.
class Featurizer {
public:
    Featurizer(const PipelineGraph &graph,
               RegionStore &store,
               const GpuDevice &device,
               const FeaturizerOptions &options);
    ~Featurizer();
    Featurizer(const Featurizer &) = delete;
    Featurizer &operator=(const Featurizer &) = delete;

    /// Features of every stage that `root` places or inlines. `root` may be partial: it is
    /// completed first (schedule/feature_view.h).
    Featurization featurize(const LoopNestPtr &root) const;
    FeaturizerStats stats() const;

    /// The parts that featurize() is made of, for callers that keep the features of blocks
    /// themselves. They are for trees that follow the graph order (RootPlacement).
    ///
    /// What the features of a child of the root depend on besides the child itself.
    struct Surroundings {
        OutsideLayout layout;
        /// Funcs in the layout that are not placed yet.
        BitSet open;
    };
    Surroundings surroundings(const LoopNest &block, const RootPlacement &placement) const;
    /// Features of one child of `root`, which need not be completed, without any memory.
    struct BlockResult {
        BlockFeatures features;
        /// See Featurization.
        std::optional<int> unpromotable_func;
    };
    BlockResult featurize_child(const LoopNestPtr &root, size_t child, const BitSet &open) const;
    const ProgramFacts &facts() const;
    StoreSets store_sets() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace anderson2021
