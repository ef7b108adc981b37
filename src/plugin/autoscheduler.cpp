#include "plugin/autoscheduler.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "algorithm/graph_dump.h"
#include "anderson2021/version.h"
#include "backend/apply_trace.h"
#include "backend/trial.h"
#include "costmodel/aot_cost_model.h"
#include "costmodel/weights.h"
#include "frontend/graph_builder.h"
#include "lowering/lower_schedule.h"
#include "lowering/trace_check.h"
#include "plugin/hosted_search.h"
#include "plugin/pipeline_variant.h"
#include "plugin/report.h"
#include "plugin/run_record.h"
#include "plugin/schedule_cache.h"
#include "plugin/schedule_choice.h"
#include "plugin/top_schedules.h"
#include "schedule/nest_verifier.h"
#include "search/known_schedule.h"
#include "search/search.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

constexpr const char *kName = "Anderson2021";

int requested_log_level(const Environment &environment) {
    for (const char *variable : {"HL_DEBUG_AUTOSCHEDULE", "HL_DEBUG_CODEGEN"}) {
        if (const auto value = environment(variable)) {
            return std::atoi(value->c_str());
        }
    }
    return 0;
}

Weights choose_weights(const Options &options, const Environment &environment) {
    if (environment("HL_RANDOMIZE_WEIGHTS").value_or("") == "1") {
        const uint32_t seed = static_cast<uint32_t>(std::time(nullptr));
        write_log("Randomizing weights using seed = " + std::to_string(seed) + "\n");
        return Weights::random(seed);
    }
    WeightsSource source;
    source.weights_path = options.weights_path;
    source.weights_dir = environment("HL_WEIGHTS_DIR").value_or("");
    source.name = options.weights;
    SelectedWeights selected = select_weights(source);
    if (!selected.weights) {
        throw UserError(selected.description);
    }
    ANDERSON_LOG(1) << "Loading weights from " << selected.description;
    return std::move(*selected.weights);
}

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

std::vector<Halide::Internal::Function> output_functions(const Halide::Pipeline &pipeline) {
    std::vector<Halide::Internal::Function> outputs;
    for (const Halide::Func &f : pipeline.outputs()) {
        outputs.push_back(f.function());
    }
    return outputs;
}

void check_target(const Halide::Target &target) {
    if (!target.has_gpu_feature()) {
        throw UserError("Specified target (" + target.to_string() +
                        ") does not support GPU, and Anderson2021 schedules for GPUs only. Add a "
                        "GPU feature to the target, e.g. " +
                        target.to_string() + "-cuda.");
    }
}

// Of a legal schedule, the calls that make it, or why they are none.
std::string calls_for(const LoopNest &tree,
                      const TrialPipeline &pipeline,
                      const GpuDevice &device,
                      ScheduleTrace &trace) {
    if (const auto fault = verify_schedule(tree, pipeline.graph, device)) {
        return *fault;
    }
    try {
        trace = lower_schedule(tree, pipeline.graph, device);
    } catch (const InternalError &e) {
        return e.what();
    }
    return check_trace(trace, pipeline.graph, device);
}

// From the cache, or else by a search, whose result goes there.
ChosenSchedule find_schedule(const ScheduleCache &cache,
                             const TrialPipeline &pipeline,
                             RegionStore &store,
                             const GpuDevice &device,
                             const Options &options,
                             CostModel &cost_model) {
    const PipelineGraph &graph = pipeline.graph;
    std::optional<LoopNestPtr> known;
    if (cache.enabled()) {
        known = cache.find(LoopNestEditor(store));
    }
    ChoiceSteps steps;
    steps.search = [&](const Options &with) {
        return hosted_search(graph, store, device, with, cost_model);
    };
    steps.evaluate = [&](const LoopNestPtr &tree) {
        return evaluate_schedule(tree, graph, store, device, options, cost_model);
    };
    // What the cache holds has been compiled before.
    const bool thorough = options.verify_lowering != 0 && !known;
    steps.fault_of = [&](const LoopNest &tree, ScheduleTrace &trace) {
        const std::string fault = calls_for(tree, pipeline, device, trace);
        return fault.empty()
                   ? try_trace(trace, pipeline, thorough ? TrialDepth::Loops : TrialDepth::Calls)
                   : fault;
    };
    if (known) {
        ANDERSON_LOG(1) << "Schedule taken from " << cache.path();
    }
    ChosenSchedule chosen =
        choose_schedule(known ? steps.evaluate(*known) : steps.search(options), options, steps);
    if (cache.enabled() && (!known || chosen.found.best != *known)) {
        cache.store(*chosen.found.best);
    }
    return chosen;
}

}  // namespace

void run_autoscheduler(const Halide::Pipeline &pipeline,
                       const Halide::Target &target,
                       const Halide::AutoschedulerParams &parameters,
                       const Environment &environment,
                       Halide::AutoSchedulerResults *results) {
    ANDERSON_CHECK(parameters.name == kName) << "Called as " << parameters.name;
    set_log_level(requested_log_level(environment));
    const Options options =
        parse_options(parameters.extra, environment, target.get_cuda_capability_lower_bound());
    check_top_schedules(options);
    check_target(target);
    ANDERSON_LOG(1) << "Anderson2021 " ANDERSON2021_VERSION "\n"
                    << "generate_schedule for target=" << target.to_string() << "\n"
                    << describe_options(options);

    const std::vector<Halide::Internal::Function> outputs = output_functions(pipeline);
    const GpuDevice device = device_from_options(options);
    const Weights weights = choose_weights(options, environment);
    const auto cost_model_for = [&](const PipelineGraph &graph) {
        std::unique_ptr<CostModel> model = make_aot_cost_model(weights);
        model->begin(algorithm_inputs(graph, device.num_sms));
        return model;
    };
    const PipelineVariant variant =
        choose_variant(outputs, {options, device, target, cost_model_for});
    const PipelineGraph &graph = *variant.built.graph;
    ANDERSON_LOG(1) << graph_dump(graph);
    const std::unique_ptr<CostModel> cost_model = make_aot_cost_model(weights);
    const AlgorithmInputs algorithm = algorithm_inputs(graph, device.num_sms);
    cost_model->begin(algorithm);

    RegionStore store(graph);
    const ScheduleCache cache(graph, device, options, weights, target.to_string());
    const TrialPipeline trial{graph, variant.built.functions, variant.outputs, target};
    const ChosenSchedule chosen = find_schedule(cache, trial, store, device, options, *cost_model);
    const SearchResult &found = chosen.found;
    const std::string source = print_trace(chosen.trace, graph);
    ANDERSON_LOG(1) << describe_result(found, graph, options.reference_features != 0, source);
    std::vector<uint8_t> blob = featurization_blob(graph, found.features);
    if (!options.top_k_path.empty()) {
        write_top_schedules(found, graph, device, options.top_k_path);
    }
    if (!options.record_path.empty()) {
        write_run_record(
            {graph, device, options, weights, algorithm, target.to_string()}, found, source);
    }
    apply_trace(chosen.trace, graph, carry_out_variant(variant, outputs));

    if (results != nullptr) {
        results->target = target;
        results->autoscheduler_params = parameters;
        results->schedule_source = source;
        results->featurization = std::move(blob);
    }
}

}  // namespace anderson2021
