#include "plugin/pipeline_variant.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "backend/trial.h"
#include "frontend/split_reduction.h"
#include "lowering/lower_schedule.h"
#include "plugin/reduction_plan.h"
#include "schedule/regions.h"
#include "schedule/schedule_parser.h"
#include "search/search.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

using Halide::Internal::Function;

// Threads per multiprocessor with which memory is busy.
constexpr int64_t kThreadsPerSm = 1024;

/// A reduction that can be split.
struct Candidate {
    LongReduction reduction;
    std::string func;
    bool in_runs = false;
    std::vector<int64_t> part_counts;

    std::string name() const { return func + ".update(" + std::to_string(reduction.update) + ")"; }
};

std::vector<Candidate> find_candidates(const BuiltGraph &built, const VariantCriteria &criteria) {
    std::vector<Candidate> found;
    RegionStore store(*built.graph);
    for (const FuncNode &func : built.graph->funcs) {
        for (const StageNode &stage : func.stages) {
            const auto reduction = long_reduction(stage, store.root()->of(func.id));
            if (!reduction || func.is_extern) {
                continue;
            }
            const Function &f = built.functions[static_cast<size_t>(func.id)];
            const ReductionOrder order = reduction_order(f, reduction->update, criteria.target);
            if (order == ReductionOrder::Fixed) {
                ANDERSON_LOG(1) << "Reduction " << stage.name << ": " << reduction->steps()
                                << " steps in each of " << reduction->points
                                << " threads, as it is not known to be associative";
                continue;
            }
            Candidate c;
            c.reduction = *reduction;
            c.func = f.name();
            c.in_runs = order == ReductionOrder::Runs;
            c.part_counts = part_counts(*reduction, criteria.device.num_sms * kThreadsPerSm);
            if (!c.part_counts.empty()) {
                found.push_back(std::move(c));
            }
        }
    }
    return found;
}

/// Copies of the user's Funcs in which candidates are split.
class SplitCopy {
public:
    explicit SplitCopy(const std::vector<Function> &outputs) {
        const auto copies =
            Halide::Internal::deep_copy(outputs, Halide::Internal::build_environment(outputs));
        outputs_ = copies.first;
        functions_ = copies.second;
    }

    void split(const Candidate &candidate, int64_t parts) {
        const Function &f = functions_.at(candidate.func);
        std::vector<ReductionLoop> loops = candidate.reduction.loops, left;
        while (parts > 1) {
            Round round;
            round.func = candidate.func;
            round.split.update = candidate.reduction.update;
            round.split.loops = share_parts(loops, parts, candidate.in_runs, left);
            if (round.split.loops.empty()) {
                return;
            }
            complete_split(f, round.split);
            for (size_t i = 0; i < left.size(); i++) {
                left[i].var = round.split.loops[i].kept();
            }
            round.intermediate = carry_out_split(f, round.split).name();
            rounds_.push_back(std::move(round));
            loops = left;
            parts = parts_of_parts(left, candidate.reduction.region_points);
        }
    }

    /// @param positions  of the user's Funcs in their pipeline, by name
    PipelineVariant build(const Halide::Target &target,
                          const std::map<std::string, int> &positions) const {
        PipelineVariant variant{build_graph(outputs_, target), outputs_};
        PipelineGraph &graph = *variant.built.graph;
        std::map<std::string, int> ids;
        for (const Function &f : variant.built.functions) {
            ids[f.name()] = static_cast<int>(ids.size());
        }
        graph.pipeline_index.assign(static_cast<size_t>(graph.num_funcs()), -1);
        for (const auto &[name, position] : positions) {
            graph.pipeline_index[static_cast<size_t>(ids.at(name))] = position;
        }
        for (const Round &round : rounds_) {
            ReductionSplit split = round.split;
            split.func = ids.at(round.func);
            split.intermediate = ids.at(round.intermediate);
            graph.add_split(std::move(split));
        }
        return variant;
    }

private:
    struct Round {
        std::string func, intermediate;
        ReductionSplit split;
    };

    std::vector<Function> outputs_;
    std::map<std::string, Function> functions_;
    std::vector<Round> rounds_;
};

/// Missing to the time that the steps of reductions take one after the other, and launches.
double
cost_of_waiting(const SearchResult &found, const PipelineGraph &graph, const GpuDevice &device) {
    double ms = kLaunchMs * static_cast<double>(found.best->children.size());
    const double resident = device.num_sms * 2.0 * kThreadsPerSm;
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
double estimated_cost(const PipelineVariant &variant, const VariantCriteria &criteria) {
    const PipelineGraph &graph = *variant.built.graph;
    try {
        RegionStore store(graph);
        const std::unique_ptr<CostModel> model = criteria.cost_model(graph);
        const SearchResult found =
            search(graph, store, criteria.device, options_of_trial(criteria.options), *model);
        const ScheduleTrace trace = lower_schedule(*found.best, graph, criteria.device);
        const std::string fault =
            try_trace(trace,
                      {graph, variant.built.functions, variant.outputs, criteria.target},
                      TrialDepth::Calls);
        if (fault.empty()) {
            return found.cost + cost_of_waiting(found, graph, criteria.device);
        }
        ANDERSON_LOG(1) << "No schedule: " << fault;
    } catch (const std::exception &e) {  // The search itself will tell if nothing else works.
        ANDERSON_LOG(1) << "No schedule: " << e.what();
    }
    return std::numeric_limits<double>::infinity();
}

void drop(std::vector<Candidate> &candidates, size_t which, const char *reason) {
    which = std::min(which, candidates.size() - 1);
    ANDERSON_LOG(1) << "Reduction " << candidates[which].name() << " stays as it is: " << reason;
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(which));
}

/// A partial schedule is for the pipeline that it names the Funcs of; what it says about the others
/// would fit as well.
bool fits_partial_schedule(const PipelineGraph &graph, const Options &options) {
    if (options.partial_schedule_path.empty()) {
        return true;
    }
    try {
        const ParsedSchedule partial = read_schedule_file(options.partial_schedule_path);
        return std::any_of(graph.splits.begin(), graph.splits.end(), [&](const ReductionSplit &s) {
            return partial.funcs.count(graph.func(s.intermediate).name) != 0;
        });
    } catch (const UserError &) {  // The search will tell.
        return false;
    }
}

/// With the i-th number of parts, or the last one, for each candidate. Candidates that the compiler
/// refuses are removed.
std::optional<PipelineVariant> build_split(const std::vector<Function> &outputs,
                                           const std::map<std::string, int> &positions,
                                           const Halide::Target &target,
                                           std::vector<Candidate> &candidates,
                                           size_t i) {
    while (!candidates.empty()) {
        SplitCopy copy(outputs);
        size_t next = 0;
        try {
            for (; next < candidates.size(); next++) {
                const std::vector<int64_t> &counts = candidates[next].part_counts;
                copy.split(candidates[next], counts[std::min(i, counts.size() - 1)]);
            }
            return copy.build(target, positions);
        } catch (const Halide::Error &e) {  // Not one of the standard library's.
            drop(candidates, next, e.what());
        } catch (const std::exception &e) {
            drop(candidates, next, e.what());
        }
    }
    return std::nullopt;
}

std::string describe_splits(const std::vector<Candidate> &candidates, size_t i) {
    std::string text;
    for (const Candidate &c : candidates) {
        text += (text.empty() ? "" : ", ") + c.name() + " in about " +
                std::to_string(c.part_counts[std::min(i, c.part_counts.size() - 1)]) + " parts";
    }
    return text;
}

}  // namespace

PipelineVariant choose_variant(const std::vector<Function> &outputs,
                               const VariantCriteria &criteria) {
    PipelineVariant best{build_graph(outputs, criteria.target), outputs};
    const bool allowed = criteria.options.split_reductions != 0 &&
                         criteria.options.reference_features == 0 && Halide::exceptions_enabled();
    std::vector<Candidate> candidates =
        allowed ? find_candidates(best.built, criteria) : std::vector<Candidate>();
    if (candidates.empty()) {
        return best;
    }
    size_t num_variants = 0;
    for (const Candidate &c : candidates) {
        num_variants = std::max(num_variants, c.part_counts.size());
    }
    std::map<std::string, int> positions;
    for (const Function &f : best.built.functions) {
        const auto id = static_cast<int>(positions.size());
        positions[f.name()] = best.built.graph->index_in_pipeline(id);
    }
    double least = estimated_cost(best, criteria);
    ANDERSON_LOG(1) << "Long reductions as they are: " << least << " ms";
    for (size_t i = 0; i < num_variants; i++) {
        auto variant = build_split(outputs, positions, criteria.target, candidates, i);
        if (!variant) {
            break;
        }
        if (!fits_partial_schedule(*variant->built.graph, criteria.options)) {
            continue;
        }
        const double cost = estimated_cost(*variant, criteria);
        ANDERSON_LOG(1) << describe_splits(candidates, i) << ": " << cost << " ms";
        if (cost < least) {
            least = cost;
            best = std::move(*variant);
        }
    }
    return best;
}

std::vector<Function> carry_out_variant(const PipelineVariant &variant,
                                        const std::vector<Function> &outputs) {
    const PipelineGraph &graph = *variant.built.graph;
    if (graph.splits.empty()) {
        return variant.built.functions;
    }
    const auto originals = Halide::Internal::build_environment(outputs);
    std::vector<Function> functions(variant.built.functions.size());
    for (size_t id = 0; id < functions.size(); id++) {
        const auto original = originals.find(variant.built.functions[id].name());
        if (original != originals.end()) {
            functions[id] = original->second;
        }
    }
    for (const ReductionSplit &split : graph.splits) {
        functions[static_cast<size_t>(split.intermediate)] =
            carry_out_split(functions[static_cast<size_t>(split.func)], split);
    }
    return functions;
}

}  // namespace anderson2021
