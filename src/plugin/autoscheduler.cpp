#include "plugin/autoscheduler.h"

#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "anderson2021/version.h"
#include "backend/apply_trace.h"
#include "costmodel/weights.h"
#include "lowering/lower_schedule.h"
#include "plugin/pipeline_variant.h"
#include "plugin/report.h"
#include "plugin/run_record.h"
#include "plugin/schedule_finder.h"
#include "plugin/top_schedules.h"
#include "schedule/schedule_parser.h"
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

std::vector<Halide::Internal::Function> output_functions(const Halide::Pipeline &pipeline) {
    std::vector<Halide::Internal::Function> outputs;
    for (const Halide::Func &f : pipeline.outputs()) {
        outputs.push_back(f.function());
    }
    return outputs;
}

// The file is read before anything else, as it may be none.
void check_partial_schedule(const std::string &path) {
    if (!path.empty() && read_schedule_file(path).funcs.empty()) {
        write_log("Warning: the partial schedule " + path +
                  " says nothing about any Func, so all of them are searched for\n");
    }
}

void check_target(const Halide::Target &target) {
    if (!target.has_gpu_feature()) {
        throw UserError("Specified target (" + target.to_string() +
                        ") does not support GPU, and Anderson2021 schedules for GPUs only. Add a "
                        "GPU feature to the target, e.g. " +
                        target.to_string() + "-cuda.");
    }
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
    check_partial_schedule(options.partial_schedule_path);
    ANDERSON_LOG(1) << "Anderson2021 " ANDERSON2021_VERSION "\n"
                    << "generate_schedule for target=" << target.to_string() << "\n"
                    << describe_options(options);

    const std::vector<Halide::Internal::Function> outputs = output_functions(pipeline);
    const GpuDevice device = device_from_options(options);
    const Weights weights = choose_weights(options, environment);
    const VariantCriteria criteria{options, device, target};
    PipelineVariants variants(outputs, criteria);
    const FoundSchedule scheduled = find_schedule(variants, criteria, weights);
    const PipelineGraph &graph = *scheduled.variant->built.graph;
    const SearchResult &found = scheduled.chosen.found;
    const std::string source = print_trace(scheduled.chosen.trace, graph);
    ANDERSON_LOG(1) << describe_result(found, graph, options.reference_features != 0, source);
    std::vector<uint8_t> blob = featurization_blob(graph, found.features);
    if (!options.top_k_path.empty()) {
        write_top_schedules(found, graph, device, options.top_k_path);
    }
    if (!options.record_path.empty()) {
        const AlgorithmInputs algorithm = algorithm_inputs(graph, device.num_sms);
        write_run_record(
            {graph, device, options, weights, algorithm, target.to_string()}, found, source);
    }
    apply_trace(scheduled.chosen.trace, graph, carry_out_variant(*scheduled.variant, outputs));

    if (results != nullptr) {
        results->target = target;
        results->autoscheduler_params = parameters;
        results->schedule_source = source;
        results->featurization = std::move(blob);
    }
}

}  // namespace anderson2021
