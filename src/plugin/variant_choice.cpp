#include "plugin/variant_choice.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "backend/trial.h"
#include "lowering/lower_schedule.h"
#include "plugin/progress_callback.h"
#include "schedule/regions.h"
#include "schedule/schedule_parser.h"
#include "search/search.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

// Of a search, as a rule.
constexpr int kUsualPasses = 4;

// Threads that a multiprocessor holds at once.
constexpr double kResidentThreadsPerSm = 2048;

/// Missing to the time that the steps of reductions take one after the other, and launches.
double
cost_of_waiting(const SearchResult &found, const PipelineGraph &graph, const GpuDevice &device) {
    double ms = kLaunchMs * static_cast<double>(found.best->children.size());
    const double resident = device.num_sms * kResidentThreadsPerSm;
    const std::vector<int> &order = graph.record_order();
    for (size_t i = 0; i < order.size(); i++) {
        const StageNode &stage = graph.stage(order[i]);
        if (!stage.has_reduction() || !found.features.has(stage.id)) {
            continue;
        }
        const ScheduleFeatures &f = found.features.row(stage.id);
        const double threads = f.num_blocks * std::max(1.0, f.num_threads_per_block);
        const double ms_of_steps =
            kStepMs * f.points_computed_per_thread * std::max(1.0, threads / resident);
        ms += std::max(0.0, ms_of_steps - found.stage_costs[i]);
    }
    return ms;
}

/// Short, and the same whatever is random in the search that follows.
Options options_of_trial(const Options &options) {
    Options trial = options;
    trial.beam_size = 1;
    trial.num_passes = 1;
    trial.random_dropout = 100;
    trial.randomize_tilings = 0;
    trial.top_k = 1;
    trial.top_k_path.clear();
    trial.record_path.clear();
    trial.time_limit_s = options.time_limit_s / 10;
    return trial;
}

/// Infinite if there is no schedule, as with a partial schedule for another variant, or one that
/// the compiler refuses.
double estimated_cost(const PipelineVariant &variant,
                      const VariantCriteria &criteria,
                      const CostModelMaker &cost_model,
                      SearchMonitor &monitor) {
    const PipelineGraph &graph = *variant.built.graph;
    SearchHooks hooks;
    hooks.progress = [&](const SearchStatus &status) { return monitor.report(status); };
    monitor.begin_trial();
    try {
        RegionStore store(graph);
        const std::unique_ptr<CostModel> model = cost_model(graph);
        const SearchResult found = search(
            graph, store, criteria.device, options_of_trial(criteria.options), *model, hooks);
        const ScheduleTrace trace = lower_schedule(*found.best, graph, criteria.device);
        const std::string fault =
            try_trace(trace,
                      {graph, variant.built.functions, variant.outputs, criteria.target},
                      TrialDepth::Calls);
        if (fault.empty()) {
            return found.cost + cost_of_waiting(found, graph, criteria.device);
        }
        ANDERSON_LOG(1) << "No schedule: " << fault;
    } catch (const SearchGivenUp &) {
        throw;
    } catch (const std::exception &e) {  // The search itself will tell if nothing else works.
        ANDERSON_LOG(1) << "No schedule: " << e.what();
    }
    return std::numeric_limits<double>::infinity();
}

/// The partial schedule; empty if there is none, or none that can be read: the search will tell.
ParsedSchedule read_partial_schedule(const Options &options) {
    try {
        return options.partial_schedule_path.empty()
                   ? ParsedSchedule()
                   : read_schedule_file(options.partial_schedule_path);
    } catch (const UserError &) {
        return {};
    }
}

/// How many of the Funcs of partial results the text tells about, and of how many it tells the
/// right size.
std::pair<int, int> agreement(const ParsedSchedule &partial, const PipelineGraph &graph) {
    RegionStore store(graph);
    std::pair<int, int> found{0, 0};
    for (const ReductionSplit &split : graph.splits) {
        const FuncNode &func = graph.func(split.intermediate);
        found.first += static_cast<int>(partial.funcs.count(func.name));
        const FuncRegion &region = store.root()->of(func.id);
        for (const ParsedRealize &realize : partial.realized) {
            bool same = realize.func == func.name &&
                        realize.extents.size() == static_cast<size_t>(func.dims());
            for (int i = 0; same && i < func.dims(); i++) {
                same = realize.extents[static_cast<size_t>(i)] == region.computed(i).extent();
            }
            found.second += static_cast<int>(same);
        }
    }
    return found;
}

// For the progress: what trials take of the time, if a pass of a search takes as much longer as its
// beam is wider.
TrialPlan plan_trials(int count, const Options &options) {
    TrialPlan plan;
    plan.count = count;
    plan.passes = max_passes(options_of_trial(options));
    plan.passes_of_search = max_passes(options);
    const double of_search = static_cast<double>(std::max<int64_t>(options.beam_size, 1)) *
                             std::min(plan.passes_of_search, kUsualPasses);
    plan.share = 1 / (count + of_search);
    return plan;
}

}  // namespace

VariantPtr choose_variant(PipelineVariants &variants,
                          const VariantCriteria &criteria,
                          const CostModelMaker &cost_model,
                          SearchMonitor &monitor) {
    VariantPtr best = variants.as_it_is();
    const int count = variants.count();
    if (count == 0) {
        return best;
    }
    monitor.plan(plan_trials(count + 1, criteria.options));
    const ParsedSchedule partial = read_partial_schedule(criteria.options);
    std::pair<int, int> best_agreement{0, 0};
    double least = estimated_cost(*best, criteria, cost_model, monitor);
    ANDERSON_LOG(1) << "Long reductions as they are: " << least << " ms";
    // Somebody who wants the end wants it for the pipeline that the partial schedule is for.
    const auto is_over = [&] { return monitor.is_stopped() && partial.funcs.empty(); };
    for (int i = 0; i < count && !is_over(); i++) {
        const VariantPtr variant = variants.build(i);
        if (variant == nullptr) {
            break;
        }
        const std::pair<int, int> agrees = agreement(partial, *variant->built.graph);
        const double cost = monitor.is_stopped()
                                ? std::numeric_limits<double>::infinity()
                                : estimated_cost(*variant, criteria, cost_model, monitor);
        ANDERSON_LOG(1) << describe_parts(*variant) << ": " << cost << " ms";
        // If none can be followed, the search has to tell about the one that is meant.
        if (cost < least || (std::isinf(least) && agrees > best_agreement)) {
            least = cost;
            best = variant;
            best_agreement = agrees;
        }
    }
    return best;
}

VariantPtr schedule_some(const VariantPtr &variant,
                         const VariantPtr &as_it_is,
                         const std::function<void(const VariantPtr &)> &schedule) {
    const auto fall_back = [&](const char *reason) {
        write_log(
            "Warning: the pipeline is scheduled without splitting its reductions, since with " +
            describe_parts(*variant) + " there is no schedule: " + reason + "\n");
        schedule(as_it_is);
        return as_it_is;
    };
    if (variant == as_it_is) {
        schedule(variant);
        return variant;
    }
    try {
        schedule(variant);
        return variant;
    } catch (const SearchGivenUp &) {
        throw;
    } catch (const UserError &e) {
        return fall_back(e.what());
    } catch (const InternalError &e) {
        return fall_back(e.what());
    }
}

}  // namespace anderson2021
