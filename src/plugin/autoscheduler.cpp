#include "plugin/autoscheduler.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <utility>

#include "algorithm/graph_dump.h"
#include "backend/apply_trace.h"
#include "costmodel/aot_cost_model.h"
#include "costmodel/weights.h"
#include "frontend/graph_builder.h"
#include "lowering/lower_schedule.h"
#include "plugin/report.h"
#include "plugin/run_record.h"
#include "plugin/schedule_cache.h"
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

// From the cache, or else by a search, whose result goes there.
SearchResult find_schedule(const ScheduleCache &cache,
                           const PipelineGraph &graph,
                           RegionStore &store,
                           const GpuDevice &device,
                           const Options &options,
                           CostModel &cost_model) {
    if (!cache.enabled()) {
        return search(graph, store, device, options, cost_model);
    }
    if (const auto known = cache.find(LoopNestEditor(store))) {
        ANDERSON_LOG(1) << "Schedule taken from " << cache.path();
        return evaluate_schedule(*known, graph, store, device, options, cost_model);
    }
    SearchResult found = search(graph, store, device, options, cost_model);
    cache.store(*found.best);
    return found;
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
    ANDERSON_LOG(1) << "generate_schedule for target=" << target.to_string() << "\n"
                    << describe_options(options);

    const BuiltGraph built = build_graph(output_functions(pipeline), target);
    const PipelineGraph &graph = *built.graph;
    ANDERSON_LOG(1) << graph_dump(graph);
    const GpuDevice device = device_from_options(options);
    const Weights weights = choose_weights(options, environment);
    const std::unique_ptr<CostModel> cost_model = make_aot_cost_model(weights);
    const AlgorithmInputs algorithm = algorithm_inputs(graph, device.num_sms);
    cost_model->begin(algorithm);

    RegionStore store(graph);
    const ScheduleCache cache(graph, device, options, weights);
    const SearchResult found = find_schedule(cache, graph, store, device, options, *cost_model);
    if (const auto fault = verify_schedule(*found.best, graph, device)) {
        ANDERSON_CHECK(false) << "The search chose an illegal schedule: " << *fault;
    }

    const ScheduleTrace trace = lower_schedule(*found.best, graph, device);
    const std::string source = print_trace(trace, graph);
    ANDERSON_LOG(1) << describe_result(found, graph, options.reference_features != 0, source);
    std::vector<uint8_t> blob = featurization_blob(graph, found.features);
    if (!options.top_k_path.empty()) {
        write_top_schedules(found, graph, device, options.top_k_path);
    }
    if (!options.record_path.empty()) {
        write_run_record(
            {graph, device, options, weights, algorithm, target.to_string()}, found, source);
    }
    apply_trace(trace, graph, built.functions);

    if (results != nullptr) {
        results->target = target;
        results->autoscheduler_params = parameters;
        results->schedule_source = source;
        results->featurization = std::move(blob);
    }
}

}  // namespace anderson2021
