// The steps: complete the tree, look up every root block by what it is and what surrounds it, walk
// the blocks that are not known yet, add up.
#include "featurizer/featurizer.h"

#include <atomic>
#include <utility>
#include <vector>

#include "featurizer/access_plan.h"
#include "featurizer/block_features.h"
#include "featurizer/feature_cache.h"
#include "featurizer/outside_layout.h"
#include "featurizer/state_reduction.h"
#include "schedule/feature_view.h"
#include "schedule/sites.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

constexpr size_t kMaxCacheBytes = size_t{256} << 20;

}  // namespace

struct Featurizer::Impl {
    Impl(const PipelineGraph &g, RegionStore &store, const GpuDevice &d, const FeaturizerOptions &o)
        : graph(g), device(d), options(o), editor(store), facts(g, *store.root()), plans(g),
          cache(kMaxCacheBytes),
          store_sets(o.reference_features ? StoreSets::EveryAncestor : StoreSets::ComputeSite) {
        for (const FuncNode &f : g.funcs) {
            upstream.emplace_back(g.num_funcs());
            for (const StageNode &s : f.stages) {
                upstream.back().insert(s.upstream);
            }
        }
    }

    /// Sites of the tree, computed when first needed.
    const Sites &sites_of(const LoopNest &root, std::optional<Sites> &sites) const {
        if (!sites) {
            sites.emplace(graph, root, device, options.reference_features);
        }
        return *sites;
    }

    std::shared_ptr<const BlockFeatures>
    walk(const LoopNest &root, const LoopNest &block, const Sites &sites) {
        const FeatureEnvironment env{graph, device, options.parallelism, sites};
        return std::make_shared<const BlockFeatures>(
            featurize_block(env, plans, root, block, store_sets));
    }

    Featurizer::BlockResult
    featurize_child(const LoopNestPtr &partial, size_t child, const BitSet &open) {
        // Guesses of the reference may depend on the completed forms of other blocks.
        const LoopNestPtr root =
            options.reference_features ? make_feature_view(partial, editor) : partial;
        const LoopNestPtr block = complete_block(root->children[child], *root, editor);
        const Sites sites = options.reference_features
                                ? Sites(graph, *root, device, true)
                                : Sites(graph, *root, *root->children[child], *block, open, device);
        Featurizer::BlockResult result;
        if (sites.failure()) {
            result.unpromotable_func = sites.failure()->func;
            return result;
        }
        const FeatureEnvironment env{graph, device, options.parallelism, sites};
        result.features = featurize_block(env, plans, *root, *block, store_sets);
        return result;
    }

    Featurization featurize(const LoopNestPtr &partial) {
        featurizations.fetch_add(1, std::memory_order_relaxed);
        const LoopNestPtr root = make_feature_view(partial, editor);
        const RootPlacement placement(graph, *root);
        std::optional<Sites> sites;
        Featurization result;
        const bool guesses_matter = !placement.follows_graph_order();
        if (guesses_matter && sites_of(*root, sites).failure()) {
            result.unpromotable_func = sites->failure()->func;
            return result;
        }
        std::vector<std::shared_ptr<const BlockFeatures>> blocks;
        blocks.reserve(root->children.size());
        for (const LoopNestPtr &block : root->children) {
            BlockKey key = make_block_key(
                block,
                outside_layout(graph, *block, placement, guesses_matter ? &*sites : nullptr));
            std::shared_ptr<const BlockFeatures> features = cache.find(key);
            const bool hit = features != nullptr;
            (hit ? hits : misses).fetch_add(1, std::memory_order_relaxed);
            if (!hit || options.verify_cache) {
                if (sites_of(*root, sites).failure()) {
                    // A block that fails is never known, so the failure shows in every tree that
                    // has it.
                    result.unpromotable_func = sites->failure()->func;
                    return result;
                }
                auto fresh = walk(*root, *block, *sites);
                ANDERSON_CHECK(!hit || identical(*features, *fresh))
                    << "The cached features of a block of " << graph.func(block->func).name
                    << " differ from fresh ones";
                if (!hit) {
                    cache.insert(std::move(key), fresh);
                }
                features = std::move(fresh);
            }
            blocks.push_back(std::move(features));
        }
        result.features = reduce_blocks(graph, facts, *root, blocks, store_sets);
        return result;
    }

    const PipelineGraph &graph;
    const GpuDevice device;
    const FeaturizerOptions options;
    const LoopNestEditor editor;
    const ProgramFacts facts;
    AccessPlans plans;
    FeatureCache cache;
    const StoreSets store_sets;
    // Per Func, all Funcs that it needs.
    std::vector<BitSet> upstream;
    std::atomic<int64_t> featurizations{0}, hits{0}, misses{0};
};

Featurizer::Featurizer(const PipelineGraph &graph,
                       RegionStore &store,
                       const GpuDevice &device,
                       const FeaturizerOptions &options)
    : impl_(std::make_unique<Impl>(graph, store, device, options)) {}

Featurizer::~Featurizer() = default;

Featurization Featurizer::featurize(const LoopNestPtr &root) const {
    return impl_->featurize(root);
}

Featurizer::Surroundings Featurizer::surroundings(const LoopNest &block,
                                                  const RootPlacement &placement) const {
    Surroundings result;
    result.open = open_funcs(impl_->graph, block, placement, impl_->upstream);
    result.layout = outside_layout(impl_->graph, block, placement, result.open);
    return result;
}

Featurizer::BlockResult
Featurizer::featurize_child(const LoopNestPtr &root, size_t child, const BitSet &open) const {
    return impl_->featurize_child(root, child, open);
}

const ProgramFacts &Featurizer::facts() const {
    return impl_->facts;
}

StoreSets Featurizer::store_sets() const {
    return impl_->store_sets;
}

FeaturizerStats Featurizer::stats() const {
    FeaturizerStats s;
    s.featurizations = impl_->featurizations.load(std::memory_order_relaxed);
    s.cache_hits = impl_->hits.load(std::memory_order_relaxed);
    s.cache_misses = impl_->misses.load(std::memory_order_relaxed);
    return s;
}

}  // namespace anderson2021
