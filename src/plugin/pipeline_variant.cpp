#include "plugin/pipeline_variant.h"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "frontend/split_reduction.h"
#include "schedule/regions.h"
#include "support/error.h"
#include "support/fingerprint.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

using Halide::Internal::Function;

using Candidate = SplittableReduction;

// Threads per multiprocessor with which memory is busy.
constexpr int64_t kThreadsPerSm = 1024;

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
    VariantPtr build(const Halide::Target &target,
                     const std::map<std::string, int> &positions,
                     std::vector<ReductionParts> parts) const {
        PipelineVariant variant{build_graph(outputs_, target), outputs_, std::move(parts)};
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
        return std::make_shared<const PipelineVariant>(std::move(variant));
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

}  // namespace

std::string describe_parts(const PipelineVariant &variant) {
    std::string text;
    for (const ReductionParts &p : variant.parts) {
        text += (text.empty() ? "" : ", ") + p.name() + " in about " + std::to_string(p.parts) +
                " parts";
    }
    return text;
}

PipelineVariants::PipelineVariants(std::vector<Function> outputs, const VariantCriteria &criteria)
    : outputs_(std::move(outputs)), target_(criteria.target) {
    as_it_is_ = std::make_shared<const PipelineVariant>(
        PipelineVariant{build_graph(outputs_, target_), outputs_, {}});
    const BuiltGraph &built = as_it_is_->built;
    const bool allowed = criteria.options.split_reductions != 0 &&
                         criteria.options.reference_features == 0 && Halide::exceptions_enabled();
    if (allowed) {
        candidates_ = find_candidates(built, criteria);
    }
    for (const Function &f : built.functions) {
        const auto id = static_cast<int>(positions_.size());
        positions_[f.name()] = built.graph->index_in_pipeline(id);
    }
}

int PipelineVariants::count() const {
    size_t count = 0;
    for (const Candidate &c : candidates_) {
        count = std::max(count, c.part_counts.size());
    }
    return static_cast<int>(count);
}

std::string PipelineVariants::fingerprint() const {
    Fingerprint fingerprint;
    fingerprint.add(candidates_.size());
    for (const Candidate &c : candidates_) {
        fingerprint.add(c.func);
        fingerprint.add(static_cast<uint64_t>(c.reduction.update));
        fingerprint.add(uint64_t{c.in_runs});
        fingerprint.add(c.part_counts.size());
        for (const int64_t parts : c.part_counts) {
            fingerprint.add(static_cast<uint64_t>(parts));
        }
    }
    return fingerprint.text();
}

VariantPtr PipelineVariants::build(int i) {
    while (!candidates_.empty()) {
        SplitCopy copy(outputs_);
        std::vector<ReductionParts> parts;
        std::string refused;
        try {
            for (const Candidate &c : candidates_) {
                const size_t last = c.part_counts.size() - 1;
                parts.push_back({c.func,
                                 c.reduction.update,
                                 c.part_counts[std::min(static_cast<size_t>(i), last)]});
                copy.split(c, parts.back().parts);
            }
            return copy.build(target_, positions_, parts);
        } catch (const Halide::Error &e) {  // Not one of the standard library's.
            refused = e.what();
        } catch (const std::exception &e) {
            refused = e.what();
        }
        ANDERSON_LOG(1) << "Reduction " << parts.back().name() << " stays as it is: " << refused;
        candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(parts.size() - 1));
    }
    return nullptr;
}

VariantPtr PipelineVariants::rebuild(const std::vector<ReductionParts> &parts) const {
    if (parts.empty()) {
        return as_it_is_;
    }
    SplitCopy copy(outputs_);
    try {
        for (const ReductionParts &p : parts) {
            const auto c = std::find_if(
                candidates_.begin(), candidates_.end(), [&](const Candidate &candidate) {
                    return candidate.func == p.func && candidate.reduction.update == p.update;
                });
            if (c == candidates_.end() ||
                std::count(c->part_counts.begin(), c->part_counts.end(), p.parts) == 0) {
                throw UserError(p.name() + " is not split into " + std::to_string(p.parts) +
                                " parts in this pipeline");
            }
            copy.split(*c, p.parts);
        }
        return copy.build(target_, positions_, parts);
    } catch (const Halide::Error &e) {
        throw UserError(e.what());
    }
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
