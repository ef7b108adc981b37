#include "search/refinement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/alternatives.h"
#include "search/depth_hash.h"
#include "search/progress_meter.h"
#include "search/replay.h"
#include "search/retiling.h"
#include "search/rollouts.h"
#include "support/hash.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

// Rounds of refinement at most; mostly the second one finds nothing any more.
constexpr int kMaxRefinements = 3;
constexpr int kMaxFuncsToRelocateOnly = 14;
// Ways of being at one place that are tried.
constexpr size_t kTriesPerPlace = 3;
constexpr size_t kTriesPerPlaceOfManyFuncs = 1;
// Decisions taken anew at a time. The best results are judged by what becomes of the whole
// schedule.
constexpr int kWindow = 16;
constexpr size_t kWindowResults = 4;
// Per round, so that the work grows with the number of Funcs and not with its square.
constexpr int kNumWindows = 48;
constexpr int kNumLongRefinements = 16;
// Above this number of Funcs less has to be enough.
constexpr int kManyFuncs = 40;
constexpr int kNumLongRefinementsOfManyFuncs = 6;
constexpr int kNumRelocationsOfManyFuncs = 64;
constexpr int kMaxRefinementsOfManyFuncs = 2;
constexpr size_t kMaxBlockSizes = 16;
constexpr size_t kMaxBlockSizesOfManyFuncs = 8;
// Of the time of a round; only for the estimate of what is left.
constexpr double kShareOfDecidingAnew = 0.6;

}  // namespace

Refinement::Refinement(SearchContext &context,
                       const PassSettings &settings,
                       SearchStatePtr best,
                       Offer offer)
    : context_(context), settings_(settings), best_(std::move(best)), take_(std::move(offer)) {
    // Most of what a pass finds after a good start is near the best schedule.
    settings_.narrow_beam = true;
}

void Refinement::run(const std::function<void()> &after_round) {
    const int num_funcs = context_.graph.num_non_input_funcs();
    const int num_rounds = num_funcs <= kManyFuncs ? kMaxRefinements : kMaxRefinementsOfManyFuncs;
    // Each step of a rollout decides about one Func, so in large pipelines there are too many.
    if (num_funcs <= kMaxFuncsToRelocateOnly && !can_stop()) {
        roll_out();
        after_round();
    }
    for (int round = 0; round < num_rounds; round++) {
        round_ = round;
        const double cost_before = best_->cost();
        // In small pipelines, moving single Funcs finds as much for less.
        if (num_funcs > kMaxFuncsToRelocateOnly) {
            refine_once();
        }
        relocate_all();
        retile_all();
        after_round();
        if (best_->cost() == cost_before || can_stop()) {
            break;
        }
    }
    if (num_funcs > kMaxFuncsToRelocateOnly) {
        resize_blocks();
        after_round();
    }
}

// Of each round one takes what the one before has left, since most searches end after two.
void Refinement::note_progress(double share_of_round) {
    if (context_.meter != nullptr) {
        context_.meter->advance_refinement(1 - std::ldexp(1 - share_of_round / 2, -round_));
    }
}

bool Refinement::can_stop() const {
    return context_.budget != nullptr && context_.budget->can_stop();
}

void Refinement::offer(const PassOutcome &outcome) {
    best_ = take_(outcome);
}

void Refinement::roll_out() {
    PassSettings settings = settings_;
    settings.narrow_beam = false;
    context_.stats.refinements++;
    const double cost = best_->cost();
    Rollouts rollouts(context_, settings, best_);
    offer(BeamPass(context_, settings, {}).run_by_rollouts(rollouts));
    PassOutcome outcome;
    outcome.best = rollouts.best();
    offer(outcome);
    if (best_->cost() < cost) {
        ANDERSON_LOG(1) << "Deciding by what becomes of it: cost " << best_->cost();
    }
}

// From each point of the best schedule on, or from some of them if there are very many.
void Refinement::refine_once() {
    const int num_decisions = 2 * context_.graph.num_funcs();
    const int num_funcs = context_.graph.num_non_input_funcs();
    const int num_long =
        num_funcs <= kManyFuncs ? kNumLongRefinements : kNumLongRefinementsOfManyFuncs;
    const int long_stride = std::max(1, 2 * num_funcs / num_long);
    const int window_stride = std::max(1, 2 * num_funcs / kNumWindows);
    int point = 0;
    for (int kept = 1; kept < num_decisions - 1 && !can_stop(); kept++) {
        note_progress(kShareOfDecidingAnew * kept / num_decisions);
        const SearchStatePtr after = state_of_best(kept + 1);
        // Where there is nothing to decide, the next point gives the same.
        if (after->tree == after->parent->tree) {
            continue;
        }
        const SearchStatePtr start = after->parent;
        const double cost = best_->cost();
        if (point % window_stride == 0) {
            refine_window(start);
        }
        if (point % long_stride == 0) {
            refine_after(start);
        }
        point++;
        if (best_->cost() < cost) {
            ANDERSON_LOG(1) << "Deciding anew from Func "
                            << context_.graph.func(next_func(start->num_decisions)).name
                            << " on: cost " << best_->cost();
        }
    }
}

// Moves one Func after the other to other places.
void Refinement::relocate_all() {
    const int num_funcs = context_.graph.num_non_input_funcs();
    const int stride =
        num_funcs > kManyFuncs ? std::max(1, num_funcs / kNumRelocationsOfManyFuncs) : 1;
    RivalEffort effort;
    effort.tries_per_place = num_funcs > kManyFuncs ? kTriesPerPlaceOfManyFuncs : kTriesPerPlace;
    effort.promising_only = num_funcs > kMaxFuncsToRelocateOnly;
    int number = 0;
    for (const FuncNode &func : context_.graph.funcs) {
        const bool is_placed = !func.is_input && (func.is_output || !func.outgoing_edges.empty());
        if (!is_placed || number++ % stride != 0 || can_stop() || !is_untried(kRelocated, func)) {
            continue;
        }
        const double start = num_funcs > kMaxFuncsToRelocateOnly ? kShareOfDecidingAnew : 0;
        note_progress(start + (1 - start) * func.id / context_.graph.num_funcs());
        context_.stats.refinements++;
        const SearchStatePtr parent = state_of_best(2 * func.id);
        for (Rival &rival : find_rivals(context_, settings_, best_, parent, effort)) {
            PassOutcome outcome;
            outcome.best = std::move(rival.state);
            offer(outcome);
        }
    }
}

void Refinement::retile_all() {
    for (const FuncNode &func : context_.graph.funcs) {
        if (!func.is_input && !can_stop() && is_untried(kRetiled, func)) {
            PassOutcome outcome;
            outcome.best = retile(context_, settings_, best_, func.id);
            offer(outcome);
        }
    }
}

// Every size of blocks takes a new placement of all that is in them, so once has to be enough.
void Refinement::resize_blocks() {
    const bool many = context_.graph.num_non_input_funcs() > kManyFuncs;
    const size_t max_block_sizes = many ? kMaxBlockSizesOfManyFuncs : kMaxBlockSizes;
    for (const FuncNode &func : context_.graph.funcs) {
        if (func.is_input || can_stop()) {
            continue;
        }
        for (SearchStatePtr &state :
             retile_fused(context_, settings_, best_, func.id, max_block_sizes)) {
            PassOutcome outcome;
            outcome.best = std::move(state);
            offer(outcome);
        }
    }
}

// The best schedule when it had that many decisions.
SearchStatePtr Refinement::state_of_best(int num_decisions) const {
    SearchStatePtr state = best_;
    while (state->num_decisions > num_decisions) {
        state = state->parent;
    }
    return state;
}

// True the first time that this is asked about the best schedule.
bool Refinement::is_untried(Attempt attempt, const FuncNode &func) {
    uint64_t key = full_hash(*best_->tree);
    hash_combine(key, static_cast<uint64_t>(func.id));
    hash_combine(key, attempt);
    return refined_.insert(key).second;
}

// True if this has not been tried yet: `rival` made from `start`.
bool Refinement::is_news(const SearchState &start, const SearchState *rival) {
    uint64_t key = full_hash(*start.tree);
    hash_combine(key, static_cast<uint64_t>(start.num_decisions));
    hash_combine(key, rival != nullptr ? full_hash(*rival->tree) : 0);
    return refined_.insert(key).second;
}

void Refinement::refine_after(const SearchStatePtr &start) {
    if (is_news(*start, nullptr)) {
        context_.stats.refinements++;
        offer(BeamPass(context_, settings_, {}).run_from(start));
    }
}

void Refinement::refine_window(const SearchStatePtr &start) {
    const int end = start->num_decisions + kWindow;
    if (end >= 2 * context_.graph.num_funcs()) {
        refine_after(start);
        return;
    }
    const SearchStatePtr rival = state_of_best(end);
    if (!is_news(*start, rival.get())) {
        return;
    }
    context_.stats.refinements++;
    const SearchStatePtr example = best_;
    for (SearchStatePtr &state :
         BeamPass(context_, settings_, {}).run_window(start, end, kWindowResults)) {
        if (!state->tree->same_structure(*rival->tree)) {
            PassOutcome outcome;
            outcome.best = Replay(context_, settings_, example).complete(std::move(state));
            offer(outcome);
        }
    }
}

}  // namespace anderson2021
