#include "search/tiling_step.h"

#include <cmath>
#include <utility>

#include "search/sampling.h"
#include "search/stopwatch.h"

namespace anderson2021 {

namespace {

// The tiled nests alone, as the only children of the root.
LoopNestPtr isolated(const LoopNestEditor &editor, const RootProfile::Entry &entry) {
    return editor.with_children(*editor.make_root(), entry.nests);
}

}  // namespace

TilingStep::TilingStep(SearchContext &context, const PassSettings &settings, int func)
    : context_(context), settings_(settings), func_(func),
      constrained_(settings.follows_partial_schedule && context.partial != nullptr &&
                   context.partial->constrains(func)),
      sampled_(context.options.randomize_tilings != 0 && !constrained_) {}

bool TilingStep::needs_tiling(const PipelineGraph &graph, const LoopNest &root, int func) {
    return !root.children.empty() && root.children.back()->func == func &&
           root.children.back()->axis == GpuAxis::None && graph.func(func).dims() > 0;
}

std::vector<Tilings> TilingStep::run(const std::vector<SearchStatePtr> &parents) {
    const Stopwatch stopwatch;
    std::vector<Tilings> result;
    bool found = false;
    for (const SearchStatePtr &parent : parents) {
        result.push_back(tilings_of(*parent));
        found = found || result.back().profile == nullptr || !result.back().choices.empty();
    }
    if (constrained_ && !found) {
        report_miss(*parents.front());
    }
    context_.stats.generate_children_ms += stopwatch.ms();
    return result;
}

Tilings TilingStep::tilings_of(const SearchState &parent) {
    Tilings result;
    if (!needs_tiling(context_.graph, *parent.tree, func_)) {
        return result;
    }
    RootProfile &profile = context_.profiles.get(context_, func_, parent, sampled_ || constrained_);
    result.profile = &profile;
    for (const RejectionTally::Line &line : profile.rejections().lines()) {
        context_.evaluator.note(line.example, line.count);
    }

    // Sums in the same order as StateCosts::sum_up, so that a tiled state costs the same to the
    // last bit when it is evaluated as a whole. Nothing follows the Func in record order.
    const int first = profile.first_position();
    const int num_stages = profile.num_stages();
    double others = 0;
    for (int i = 0; i < first; i++) {
        others += static_cast<double>(parent.costs->per_stage[static_cast<size_t>(i)]);
    }
    FullHash hash_of_others;
    const size_t num_others = parent.tree->children.size() - static_cast<size_t>(num_stages);
    for (size_t i = 0; i < num_others; i++) {
        hash_of_others.add(*parent.tree->children[i]);
    }

    const std::vector<float> &costs = profile.costs(context_, parent.costs->root_working_set);
    for (size_t e = 0; e < profile.size(); e++) {
        double cost = others;
        FullHash hash = hash_of_others;
        for (int s = 0; s < num_stages; s++) {
            const auto stage = static_cast<size_t>(s);
            cost += static_cast<double>(costs[e * static_cast<size_t>(num_stages) + stage]);
            hash.add(*profile.entry(e).nests[stage]);
        }
        context_.stats.schedules_evaluated++;
        if (!std::isfinite(cost)) {
            context_.evaluator.note({"non-finite-cost", cost, 0});
            continue;
        }
        result.choices.push_back({e, cost, hash.value()});
    }
    if (constrained_) {
        result.choices = matching(profile, result.choices);
    } else if (sampled_) {
        result.choices = sample(parent, profile, result.choices);
        context_.stats.tilings_accepted += static_cast<int64_t>(result.choices.size());
    }
    return result;
}

std::vector<Tilings::Choice> TilingStep::sample(const SearchState &parent,
                                                const RootProfile &profile,
                                                const std::vector<Tilings::Choice> &choices) const {
    DepthHash hash_of_others(
        parent.tree->store_set_with_descendants(), parent.num_decisions + 1, settings_.index);
    const size_t num_others =
        parent.tree->children.size() - static_cast<size_t>(profile.num_stages());
    for (size_t i = 0; i < num_others; i++) {
        hash_of_others.add(*parent.tree->children[i]);
    }
    Buckets good, rest;
    for (size_t i = 0; i < choices.size(); i++) {
        const RootProfile::Entry &entry = profile.entry(choices[i].entry);
        DepthHash hash = hash_of_others;
        for (const LoopNestPtr &nest : entry.nests) {
            hash.add(*nest);
        }
        (entry.idle_core_waste <= kMaxIdleCoreWaste ? good : rest).add(hash.value(), i);
    }
    std::vector<Tilings::Choice> taken;
    for (std::vector<size_t> &bucket : good.all()) {
        context_.rng.shuffle(bucket);
        bucket.resize(sample_quota(bucket.size()));
        for (const size_t i : bucket) {
            taken.push_back(choices[i]);
        }
    }
    if (taken.empty()) {
        for (const std::vector<size_t> &bucket : rest.all()) {
            taken.push_back(choices[bucket.front()]);
        }
    }
    return taken;
}

// What the text says about other Funcs was checked when they were decided, and their levels do not
// change here; so the Func's own levels are all that has to be compared, once per tiling.
std::vector<Tilings::Choice> TilingStep::matching(const RootProfile &profile,
                                                  const std::vector<Tilings::Choice> &choices) {
    std::vector<bool> &agrees = agreement_[&profile];
    for (size_t e = agrees.size(); e < profile.size(); e++) {
        agrees.push_back(context_.partial->matches(*isolated(context_.editor, profile.entry(e))));
    }
    std::vector<Tilings::Choice> result;
    for (const Tilings::Choice &choice : choices) {
        if (agrees[choice.entry]) {
            result.push_back(choice);
        }
    }
    return result;
}

void TilingStep::report_miss(const SearchState &parent) const {
    ClosestMiss miss;
    RootProfile &profile = context_.profiles.get(context_, func_, parent, true);
    for (size_t e = 0; e < profile.size(); e++) {
        miss.add(*context_.partial, *isolated(context_.editor, profile.entry(e)), func_);
    }
    miss.report(*context_.partial, context_.graph.func(func_));
}

}  // namespace anderson2021
