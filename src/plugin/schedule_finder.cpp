#include "plugin/schedule_finder.h"

#include <string>
#include <utility>
#include <vector>

#include "algorithm/graph_dump.h"
#include "backend/trial.h"
#include "costmodel/aot_cost_model.h"
#include "lowering/lower_schedule.h"
#include "lowering/trace_check.h"
#include "plugin/hosted_search.h"
#include "plugin/schedule_cache.h"
#include "plugin/search_monitor.h"
#include "plugin/variant_choice.h"
#include "schedule/nest_verifier.h"
#include "schedule/schedule_rebuilder.h"
#include "search/known_schedule.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

class ScheduleFinder {
public:
    ScheduleFinder(const VariantCriteria &criteria, const Weights &weights)
        : criteria_(criteria), weights_(weights) {}

    std::unique_ptr<CostModel> cost_model(const PipelineGraph &graph) const {
        std::unique_ptr<CostModel> model = make_aot_cost_model(weights_);
        model->begin(algorithm_inputs(graph, criteria_.device.num_sms));
        return model;
    }

    FoundSchedule search(PipelineVariants &variants) const {
        const Options &options = criteria_.options;
        SearchMonitor monitor(options);
        const VariantPtr variant = choose_variant(
            variants,
            criteria_,
            [&](const PipelineGraph &graph) { return cost_model(graph); },
            monitor);
        FoundSchedule found;
        const auto search_variant = [&](const VariantPtr &v) { found = search(v, monitor); };
        // What the user has decided is meant for one variant.
        if (options.by_hand.empty() && options.partial_schedule_path.empty()) {
            schedule_some(variant, variants.as_it_is(), search_variant);
        } else {
            search_variant(variant);
        }
        monitor.finish(found.chosen.found.cost);
        return found;
    }

    /// The schedule of a file of the cache. Throws UserError if it is none.
    FoundSchedule take(const PipelineVariants &variants, const CachedSchedule &cached) const {
        FoundSchedule found = begin(variants.rebuild(cached.parts));
        const PipelineGraph &graph = *found.variant->built.graph;
        check_func_names(cached.schedule, graph);
        const LoopNestPtr tree = rebuild_schedule(cached.schedule, LoopNestEditor(*found.store));
        // It has been compiled before.
        const std::string fault =
            fault_of(*tree, *found.variant, TrialDepth::Calls, found.chosen.trace);
        if (!fault.empty()) {
            throw UserError(fault);
        }
        found.chosen.found = evaluate_schedule(
            tree, graph, *found.store, criteria_.device, criteria_.options, *cost_model(graph));
        return found;
    }

private:
    static FoundSchedule begin(const VariantPtr &variant) {
        const PipelineGraph &graph = *variant->built.graph;
        ANDERSON_LOG(1) << graph_dump(graph);
        return {variant, std::make_unique<RegionStore>(graph), {}};
    }

    FoundSchedule search(const VariantPtr &variant, SearchMonitor &monitor) const {
        FoundSchedule found = begin(variant);
        const PipelineGraph &graph = *variant->built.graph;
        const Options &options = criteria_.options;
        const GpuDevice &device = criteria_.device;
        const std::unique_ptr<CostModel> model = cost_model(graph);
        const TrialDepth depth =
            options.verify_lowering != 0 ? TrialDepth::Loops : TrialDepth::Calls;
        ChoiceSteps steps;
        steps.search = [&](const Options &with) {
            return hosted_search(graph, *found.store, device, with, *model, monitor);
        };
        steps.evaluate = [&](const LoopNestPtr &tree) {
            return evaluate_schedule(tree, graph, *found.store, device, options, *model);
        };
        steps.fault_of = [&](const LoopNest &tree, ScheduleTrace &trace) {
            return fault_of(tree, *variant, depth, trace);
        };
        found.chosen = choose_schedule(steps.search(options), options, steps);
        return found;
    }

    // Makes the scheduling calls of a tree. Empty, or why the tree is illegal or cannot be
    // compiled.
    std::string fault_of(const LoopNest &tree,
                         const PipelineVariant &variant,
                         TrialDepth depth,
                         ScheduleTrace &trace) const {
        const PipelineGraph &graph = *variant.built.graph;
        const GpuDevice &device = criteria_.device;
        if (const auto fault = verify_schedule(tree, graph, device)) {
            return *fault;
        }
        try {
            trace = lower_schedule(tree, graph, device);
        } catch (const InternalError &e) {
            return e.what();
        }
        const std::string fault = check_trace(trace, graph, device);
        return fault.empty()
                   ? try_trace(trace,
                               {graph, variant.built.functions, variant.outputs, criteria_.target},
                               depth)
                   : fault;
    }

    const VariantCriteria &criteria_;
    const Weights &weights_;
};

}  // namespace

AlgorithmInputs algorithm_inputs(const PipelineGraph &graph, int num_cores) {
    // The network never sees the types in use.
    constexpr size_t kNumTypes = 7;
    AlgorithmInputs inputs;
    inputs.num_stages = static_cast<int>(graph.record_order().size());
    inputs.num_cores = num_cores;
    for (const int stage : graph.record_order()) {
        const auto &counts = graph.stage(stage).features;
        for (size_t i = kNumTypes; i < counts.size(); i++) {
            inputs.features.push_back(static_cast<float>(counts[i]));
        }
    }
    return inputs;
}

FoundSchedule
find_schedule(PipelineVariants &variants, const VariantCriteria &criteria, const Weights &weights) {
    const ScheduleCache cache({*variants.as_it_is()->built.graph,
                               variants.fingerprint(),
                               criteria.device,
                               criteria.options,
                               weights,
                               criteria.target.to_string()});
    const ScheduleFinder finder(criteria, weights);
    FoundSchedule found;
    if (cache.enabled() &&
        cache.find([&](const CachedSchedule &cached) { found = finder.take(variants, cached); })) {
        ANDERSON_LOG(1) << "Schedule taken from " << cache.path();
        return found;
    }
    found = finder.search(variants);
    if (cache.enabled()) {
        const PipelineVariant &variant = *found.variant;
        cache.store(*found.chosen.found.best, *variant.built.graph, variant.parts);
    }
    return found;
}

}  // namespace anderson2021
