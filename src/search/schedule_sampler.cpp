#include "search/schedule_sampler.h"

#include <string>

#include "search/beam_pass.h"
#include "search/evaluation_options.h"
#include "search/root_profile.h"
#include "search/search_context.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

// For costs of trees and for features of blocks, of all descents.
constexpr size_t kMaxKnownBytes = size_t{64} << 20;
constexpr size_t kMaxBlockBytes = size_t{256} << 20;
// Forgetting what nothing refers to any more takes a while itself.
constexpr int kDescentsBetweenTrims = 64;

}  // namespace

struct ScheduleSampler::Shared {
    Shared(const PipelineGraph &graph,
           RegionStore &store,
           const GpuDevice &device,
           const Options &given_options,
           CostModel &cost_model)
        : options(given_options), pool(1), rng(0), editor(store),
          featurizer(graph, store, device, featurizer_options(options)),
          evaluator(
              featurizer, cost_model, prune_context(graph, device, options), pool, kMaxBlockBytes),
          interner(editor, pool), context{graph,
                                          device,
                                          options,
                                          store,
                                          editor,
                                          evaluator,
                                          pool,
                                          interner,
                                          profiles,
                                          nullptr,
                                          rng,
                                          stats} {
        settings.moves = SpaceOptions::from(options);
    }

    const Options options;
    ThreadPool pool;
    Rng rng;
    LoopNestEditor editor;
    Featurizer featurizer;
    StateEvaluator evaluator;
    NestInterner interner;
    RootProfiles profiles;
    SearchStats stats;
    SearchContext context;
    PassSettings settings;
    int num_descents = 0;
};

ScheduleSampler::ScheduleSampler(const PipelineGraph &graph,
                                 RegionStore &store,
                                 const GpuDevice &device,
                                 const Options &options,
                                 CostModel &cost_model)
    : shared_(std::make_unique<Shared>(graph, store, device, options, cost_model)) {}

ScheduleSampler::~ScheduleSampler() = default;

SearchResult ScheduleSampler::sample(int64_t seed) {
    Shared &shared = *shared_;
    if (++shared.num_descents % kDescentsBetweenTrims == 0) {
        shared.evaluator.trim(kMaxKnownBytes);
        shared.interner.trim();
        shared.context.store.trim();
    }
    shared.rng = Rng(seed);
    const PassOutcome outcome = BeamPass(shared.context, shared.settings, {}).run();
    if (outcome.best == nullptr) {
        throw UserError("The descent of seed " + std::to_string(seed) +
                        " leaves no legal place for Func " +
                        shared.context.graph.func(outcome.stuck_func).name);
    }
    SearchResult result;
    result.best = outcome.best->tree;
    result.cost = outcome.best->cost();
    const std::vector<float> &costs = outcome.best->costs->per_stage;
    result.stage_costs.assign(costs.begin(), costs.end());
    result.features = shared.featurizer.featurize(result.best).features;
    return result;
}

}  // namespace anderson2021
