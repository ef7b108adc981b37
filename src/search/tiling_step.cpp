#include "search/tiling_step.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/sampling.h"
#include "search/stopwatch.h"

namespace anderson2021 {

namespace {

// The tiled nests alone, as the only children of the root.
LoopNestPtr isolated(const LoopNestEditor &editor, RootProfile &profile, size_t entry) {
    return editor.with_children(*editor.make_root(), profile.nests(editor, entry));
}

}  // namespace

Tilings::Tilings(RootProfile &profile,
                 std::shared_ptr<const RootProfile::Costs> costs,
                 const SearchState &parent)
    : profile_(&profile), costs_(std::move(costs)), order_(costs_->order) {
    // Sums in the same order as StateCosts::sum_up, so that a tiled state costs the same to the
    // last bit when it is evaluated as a whole.
    for (int i = 0; i < profile.first_position(); i++) {
        others_ += static_cast<double>(parent.costs->per_stage[static_cast<size_t>(i)]);
    }
    const std::vector<LoopNestPtr> &children = parent.tree->children;
    for (size_t i = 0; i + static_cast<size_t>(profile.num_stages()) < children.size(); i++) {
        hash_of_others_.add(*children[i]);
    }
}

double Tilings::cost(size_t i) const {
    const auto num_stages = static_cast<size_t>(profile_->num_stages());
    double cost = others_;
    for (size_t s = 0; s < num_stages; s++) {
        cost += static_cast<double>(costs_->per_stage[order_[i] * num_stages + s]);
    }
    return cost;
}

Tilings::Choice Tilings::choice(size_t i) const {
    FullHash hash = hash_of_others_;
    for (int s = 0; s < profile_->num_stages(); s++) {
        hash.add(profile_->hash(order_[i], s));
    }
    return {order_[i], cost(i), hash.value()};
}

void Tilings::restrict_to(const std::vector<size_t> &choices) {
    std::vector<uint32_t> kept;
    for (const size_t i : choices) {
        kept.push_back(order_[i]);
    }
    order_ = std::move(kept);
}

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
        found = found || result.back().profile() == nullptr || result.back().size() > 0;
    }
    if (constrained_ && !found) {
        report_miss(*parents.front());
    }
    context_.stats.generate_children_ms += stopwatch.ms();
    return result;
}

Tilings TilingStep::tilings_of(const SearchState &parent) {
    if (!needs_tiling(context_.graph, *parent.tree, func_)) {
        return {};
    }
    RootProfile &profile = context_.profiles.get(context_, func_, parent, sampled_ || constrained_);
    for (const RejectionTally::Line &line : profile.rejections().lines()) {
        context_.evaluator.note(line.example, line.count);
    }
    const std::shared_ptr<const RootProfile::Costs> costs =
        profile.costs(context_, parent.costs->root_working_set);
    Tilings result(profile, costs, parent);
    const auto num_lost = static_cast<int64_t>(costs->num_non_finite);
    context_.stats.schedules_evaluated += static_cast<int64_t>(result.size()) + num_lost;
    if (num_lost > 0) {
        context_.evaluator.note({"non-finite-cost", costs->non_finite, 0}, num_lost);
    }
    if (constrained_) {
        result.restrict_to(matching(result));
    } else if (sampled_) {
        result.restrict_to(sample(parent, result));
        context_.stats.tilings_accepted += static_cast<int64_t>(result.size());
    }
    return result;
}

std::vector<size_t> TilingStep::sample(const SearchState &parent, const Tilings &tilings) const {
    RootProfile &profile = *tilings.profile();
    DepthHash hash_of_others(
        parent.tree->stored_below(), parent.num_decisions + 1, settings_.index);
    const size_t num_others =
        parent.tree->children.size() - static_cast<size_t>(profile.num_stages());
    for (size_t i = 0; i < num_others; i++) {
        hash_of_others.add(*parent.tree->children[i]);
    }
    // Buckets fill up in the order in which tilings are generated.
    std::vector<size_t> by_entry(tilings.size());
    std::iota(by_entry.begin(), by_entry.end(), size_t{0});
    std::sort(by_entry.begin(), by_entry.end(), [&](size_t a, size_t b) {
        return tilings.entry(a) < tilings.entry(b);
    });
    Buckets good, rest;
    for (const size_t i : by_entry) {
        const size_t entry = tilings.entry(i);
        DepthHash hash = hash_of_others;
        for (const LoopNestPtr &nest : profile.nests(context_.editor, entry)) {
            hash.add(*nest);
        }
        (profile.idle_core_waste(entry) <= kMaxIdleCoreWaste ? good : rest).add(hash.value(), i);
    }
    std::vector<size_t> taken;
    for (std::vector<size_t> &bucket : good.all()) {
        context_.rng.shuffle(bucket);
        bucket.resize(sample_quota(bucket.size()));
        taken.insert(taken.end(), bucket.begin(), bucket.end());
    }
    if (taken.empty()) {
        for (const std::vector<size_t> &bucket : rest.all()) {
            taken.push_back(bucket.front());
        }
    }
    std::sort(taken.begin(), taken.end());
    return taken;
}

// What the text says about other Funcs was checked when they were decided, and their levels do not
// change here; so the Func's own levels are all that has to be compared, once per tiling.
std::vector<size_t> TilingStep::matching(const Tilings &tilings) {
    RootProfile &profile = *tilings.profile();
    std::vector<bool> &agrees = agreement_[&profile];
    for (size_t e = agrees.size(); e < profile.size(); e++) {
        agrees.push_back(context_.partial->matches(*isolated(context_.editor, profile, e)));
    }
    std::vector<size_t> result;
    for (size_t i = 0; i < tilings.size(); i++) {
        if (agrees[tilings.entry(i)]) {
            result.push_back(i);
        }
    }
    return result;
}

void TilingStep::report_miss(const SearchState &parent) const {
    ClosestMiss miss;
    RootProfile &profile = context_.profiles.get(context_, func_, parent, true);
    for (size_t e = 0; e < profile.size(); e++) {
        miss.add(*context_.partial, *isolated(context_.editor, profile, e), func_);
    }
    miss.report(*context_.partial, context_.graph.func(func_));
}

}  // namespace anderson2021
