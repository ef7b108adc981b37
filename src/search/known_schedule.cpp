#include "search/known_schedule.h"

#include <memory>

#include "search/evaluation_options.h"
#include "search/state_evaluator.h"
#include "support/error.h"

namespace anderson2021 {

SearchResult evaluate_schedule(const LoopNestPtr &tree,
                               const PipelineGraph &graph,
                               RegionStore &store,
                               const GpuDevice &device,
                               const Options &options,
                               CostModel &cost_model) {
    ThreadPool pool(1);
    const Featurizer featurizer(graph, store, device, featurizer_options(options));
    StateEvaluator evaluator(featurizer, cost_model, prune_context(graph, device, options), pool);
    // Whoever made the schedule has decided what may be recomputed.
    auto exempt = std::make_shared<BitSet>(graph.num_funcs());
    for (int f = 0; f < graph.num_funcs(); f++) {
        exempt->insert(f);
    }
    const Evaluation evaluation = evaluator.evaluate_afresh({tree, exempt});
    if (!evaluation.accepted()) {
        throw UserError(std::string("The schedule breaks the rule ") + evaluation.rejection->rule);
    }
    SearchResult result;
    result.best = tree;
    result.cost = evaluation.costs->total;
    result.stage_costs.assign(evaluation.costs->per_stage.begin(),
                              evaluation.costs->per_stage.end());
    result.features = featurizer.featurize(tree).features;
    result.top.push_back({tree, result.cost, result.features});
    return result;
}

}  // namespace anderson2021
