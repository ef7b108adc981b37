#include "search/placement_step.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "search/depth_hash.h"
#include "search/sampling.h"
#include "search/stopwatch.h"
#include "space/compute_at_move.h"
#include "space/idle_lanes.h"
#include "space/inline_move.h"
#include "space/vector_dims.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

// Share of a block's lanes that may be idle before a placement becomes a last resort.
constexpr double kMaxIdleLaneWaste = 0.5;
constexpr size_t kNoQuota = std::numeric_limits<size_t>::max();

}  // namespace

PlacementStep::PlacementStep(SearchContext &context, const PassSettings &settings, int func)
    : context_(context), settings_(settings), func_(context.graph.func(func)),
      constrained_(settings.follows_partial_schedule && context.partial != nullptr &&
                   context.partial->constrains(func)),
      sampled_(context.options.randomize_tilings != 0 && !constrained_) {
    if (constrained_) {
        // Whatever the text asks for is tried.
        vector_dims_.resize(static_cast<size_t>(std::max(func_.dims(), 1)));
        std::iota(vector_dims_.begin(), vector_dims_.end(), 0);
    } else {
        vector_dims_ = candidate_vector_dims(*context.store.root(), func_, false);
    }
    const LoopNestPtr empty = context.editor.make_root();
    for (const int dim : vector_dims_) {
        root_nests_[dim] = context.editor.place(func, dim, *empty, false);
    }
}

std::vector<Placements> PlacementStep::run(const std::vector<SearchStatePtr> &parents) {
    std::vector<Work> works(parents.size());
    for (size_t i = 0; i < parents.size(); i++) {
        works[i].parent = parents[i].get();
    }
    const Stopwatch inlining;
    context_.pool.parallel_for(static_cast<int64_t>(works.size()), [&](int64_t n) {
        Work &work = works[static_cast<size_t>(n)];
        work.result.always_inline = always_inline(*work.parent);
        if (may_inline()) {
            const LoopNestPtr tree = context_.editor.inline_func(work.parent->tree, func_.id);
            if (agrees(*tree)) {
                work.inlined = context_.interner.intern(tree, work.parent->tree);
            }
        }
    });
    context_.stats.generate_children_ms += inlining.ms();
    try_inlining(works);

    const Stopwatch proposing;
    context_.pool.parallel_for(static_cast<int64_t>(works.size()), [&](int64_t n) {
        Work &work = works[static_cast<size_t>(n)];
        if (goes_on(work)) {
            work.proposals = proposals(*work.parent);
            const Stopwatch filtering;
            filter(work);
            work.filter_ms = filtering.ms();
        }
    });
    context_.stats.compute_in_tiles_ms += proposing.ms();
    context_.stats.generate_children_ms += proposing.ms();

    for (Work &work : works) {
        context_.stats.filter_thread_tiles_ms += work.filter_ms;
        context_.stats.tilings_generated +=
            static_cast<int64_t>(work.proposals.size() + work.rejections.size());
        for (const Rejection &rejection : work.rejections) {
            context_.evaluator.note(rejection);
        }
        sampled_ ? group_for_sampling(work) : group(work);
    }

    for (int turn = 0; turn <= kLastResort; turn++) {
        evaluate(works, turn);
    }
    std::vector<Placements> results;
    bool found = false;
    for (Work &work : works) {
        for (Group &group : work.groups) {
            std::move(
                group.taken.begin(), group.taken.end(), std::back_inserter(work.result.placed));
        }
        found = found || !work.result.placed.empty();
        results.push_back(std::move(work.result));
    }
    if (constrained_ && !found) {
        report_miss(works);
    }
    return results;
}

bool PlacementStep::may_inline() const {
    return settings_.moves.inlining && can_inline(func_) &&
           settings_.frozen.root_nests(func_.id) == nullptr;
}

// Without a partial schedule that says otherwise, every tree agrees.
bool PlacementStep::agrees(const LoopNest &tree) const {
    return !constrained_ || context_.partial->matches(tree);
}

std::shared_ptr<const BitSet> PlacementStep::always_inline(const SearchState &parent) const {
    if (parent.always_inline->contains(func_.id) ||
        !(constrained_ || settings_.exempt_all ||
          is_always_considered_for_inlining(context_.graph, *parent.tree, func_))) {
        return parent.always_inline;
    }
    auto extended = std::make_shared<BitSet>(*parent.always_inline);
    extended->insert(func_.id);
    return extended;
}

void PlacementStep::try_inlining(std::vector<Work> &works) {
    std::vector<EvaluationRequest> requests;
    std::vector<Work *> owners;
    for (Work &work : works) {
        if (work.inlined != nullptr) {
            requests.push_back({work.inlined, work.result.always_inline, work.parent, func_.id});
            owners.push_back(&work);
        }
    }
    const std::vector<Evaluation> evaluations = context_.evaluator.evaluate(requests);
    for (size_t i = 0; i < owners.size(); i++) {
        if (evaluations[i].accepted()) {
            owners[i]->result.placed.push_back({owners[i]->inlined, evaluations[i].costs});
        }
    }
}

// Whether to look for other places after inlining was tried.
bool PlacementStep::goes_on(const Work &work) const {
    if (work.result.placed.empty() || constrained_) {
        return true;
    }
    const bool enough = settings_.frozen.is_inlined(func_.id) ||
                        (settings_.eager_inlining && is_inlined_eagerly(func_)) ||
                        inlining_dominates(context_.graph, func_);
    return !enough;
}

std::vector<PlacementStep::Proposal> PlacementStep::proposals(const SearchState &parent) const {
    std::vector<Proposal> result;
    if (const std::vector<LoopNestPtr> *frozen = settings_.frozen.root_nests(func_.id)) {
        std::vector<LoopNestPtr> children = parent.tree->children;
        children.insert(children.end(), frozen->begin(), frozen->end());
        result.push_back({context_.editor.with_children(*parent.tree, std::move(children)), 0, 0});
        return result;
    }
    const ComputeAtMove move(context_.editor,
                             context_.device,
                             settings_.moves,
                             [this](int, int dim) { return root_nests_.at(dim); });
    for (const int dim : vector_dims_) {
        for (LoopNestPtr &tree : move.propose(parent.tree, func_.id, dim)) {
            result.push_back({std::move(tree), dim, 0});
        }
    }
    return result;
}

// Drops proposals that are structurally illegal or that a partial schedule excludes, and measures
// the idle lanes of the others.
void PlacementStep::filter(Work &work) const {
    std::vector<Proposal> kept;
    const LoopNest &parent = *work.parent->tree;
    std::vector<double> waste;
    for (const LoopNestPtr &task : parent.children) {
        waste.push_back(idle_lane_waste_of_task(*task, context_.device));
    }
    for (Proposal &proposal : work.proposals) {
        if (!agrees(*proposal.tree)) {
            continue;
        }
        if (const auto rejection = context_.evaluator.check_structure(*proposal.tree, &parent)) {
            work.rejections.push_back(*rejection);
            continue;
        }
        const std::vector<LoopNestPtr> &tasks = proposal.tree->children;
        for (size_t i = 0; i < tasks.size(); i++) {
            const bool shared = i < waste.size() && tasks[i] == parent.children[i];
            proposal.idle_lanes =
                std::max(proposal.idle_lanes,
                         shared ? waste[i] : idle_lane_waste_of_task(*tasks[i], context_.device));
        }
        proposal.tree = context_.interner.intern(proposal.tree, work.parent->tree);
        kept.push_back(std::move(proposal));
    }
    work.proposals = std::move(kept);
}

// Says which candidate comes closest to the partial schedule and what keeps it from agreeing.
void PlacementStep::report_miss(const std::vector<Work> &works) const {
    ClosestMiss miss;
    const std::string rejections = context_.evaluator.take_rejections().text();
    if (!rejections.empty()) {
        miss.add_rejected(rejections);
    }
    for (const Work &work : works) {
        if (may_inline()) {
            miss.add(*context_.partial,
                     *context_.editor.inline_func(work.parent->tree, func_.id),
                     func_.id);
        }
        for (const Proposal &proposal : proposals(*work.parent)) {
            miss.add(*context_.partial, *proposal.tree, func_.id);
        }
    }
    miss.report(*context_.partial, func_);
}

// Everything with few idle lanes, then the best of the rest if nothing of that was legal.
void PlacementStep::group(Work &work) const {
    std::vector<size_t> order(work.proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const Proposal &x = work.proposals[a];
        const Proposal &y = work.proposals[b];
        return std::tie(x.vector_dim, x.idle_lanes) < std::tie(y.vector_dim, y.idle_lanes);
    });
    work.groups.resize(kLastResort + 1);
    for (int turn = 0; turn <= kLastResort; turn++) {
        Group &group = work.groups[static_cast<size_t>(turn)];
        group.turn = turn;
        group.quota = turn == kLastResort ? 1 : kNoQuota;
    }
    for (const size_t i : order) {
        const Proposal &proposal = work.proposals[i];
        const bool is_good = constrained_ || proposal.idle_lanes <= kMaxIdleLaneWaste;
        const int rank = rank_ ? rank_(*proposal.tree) : 0;
        work.groups[static_cast<size_t>(is_good ? rank : kLastResort)].proposals.push_back(i);
    }
}

void PlacementStep::group_for_sampling(Work &work) const {
    Buckets good, rest;
    for (size_t i = 0; i < work.proposals.size(); i++) {
        const Proposal &proposal = work.proposals[i];
        const uint64_t hash =
            depth_hash(*proposal.tree, work.parent->num_decisions + 1, settings_.index);
        (proposal.idle_lanes <= kMaxIdleLaneWaste ? good : rest).add(hash, i);
    }
    for (std::vector<size_t> &bucket : good.all()) {
        Group group;
        context_.rng.shuffle(bucket);
        group.quota = sample_quota(bucket.size());
        group.proposals = std::move(bucket);
        work.groups.push_back(std::move(group));
    }
    for (std::vector<size_t> &bucket : rest.all()) {
        Group group;
        group.quota = 1;
        group.turn = kLastResort;
        group.proposals = std::move(bucket);
        work.groups.push_back(std::move(group));
    }
}

// Evaluates proposals of all groups together until each group has what it may take.
void PlacementStep::evaluate(std::vector<Work> &works, int turn) {
    std::vector<Group *> open;
    std::vector<const Work *> owners;
    for (Work &work : works) {
        bool found = !work.result.placed.empty();
        for (const Group &group : work.groups) {
            found = found || !group.taken.empty();
        }
        for (Group &group : work.groups) {
            if (group.turn == turn && !(turn > 0 && found)) {
                open.push_back(&group);
                owners.push_back(&work);
            }
        }
    }
    for (;;) {
        std::vector<EvaluationRequest> requests;
        std::vector<Group *> takers;
        for (size_t g = 0; g < open.size(); g++) {
            Group &group = *open[g];
            for (size_t missing = group.quota - group.taken.size();
                 missing > 0 && group.next < group.proposals.size();
                 missing--) {
                const Work &work = *owners[g];
                requests.push_back({work.proposals[group.proposals[group.next++]].tree,
                                    work.result.always_inline,
                                    work.parent,
                                    func_.id,
                                    true});
                takers.push_back(&group);
            }
        }
        if (requests.empty()) {
            return;
        }
        const std::vector<Evaluation> evaluations = context_.evaluator.evaluate(requests);
        for (size_t i = 0; i < requests.size(); i++) {
            if (evaluations[i].accepted()) {
                takers[i]->taken.push_back({requests[i].tree, evaluations[i].costs});
                context_.stats.tilings_accepted += sampled_ ? 1 : 0;
            }
        }
    }
}

}  // namespace anderson2021
