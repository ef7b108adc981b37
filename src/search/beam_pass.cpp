#include "search/beam_pass.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "search/depth_hash.h"
#include "search/placement_step.h"
#include "search/progress_meter.h"
#include "search/rollouts.h"
#include "search/root_profile.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

// A complete schedule that costs this much more than the best one is still a good structure.
constexpr double kBlessedExcess = 0.2;
// Of the beam, what goes on after rollouts: one in so many.
constexpr size_t kShareOfPromising = 4;
// Beyond this many candidates per place in the beam the user should know why it takes so long.
constexpr int64_t kManyCandidates = 10000;

// The tilings of one parent. Candidates of a step are numbered; `first` is the first one's number.
class TilingSource : public CandidateSource {
public:
    TilingSource(const Tilings &tilings, size_t parent, int64_t first)
        : tilings_(tilings), parent_(static_cast<int32_t>(parent)), first_(first) {}

    size_t size() const override { return tilings_.size(); }
    double cost(size_t i) const override { return tilings_.cost(i); }
    Candidate make(size_t i) const override {
        const Tilings::Choice choice = tilings_.choice(i);
        Candidate candidate;
        candidate.parent = parent_;
        candidate.kind = Candidate::Kind::Tiled;
        candidate.move = static_cast<int32_t>(choice.entry);
        candidate.cost = candidate.rank = choice.cost;
        candidate.hash = choice.hash;
        candidate.sequence = first_ + static_cast<int64_t>(i);
        return candidate;
    }

private:
    const Tilings &tilings_;
    int32_t parent_;
    int64_t first_;
};

}  // namespace

BeamPass::BeamPass(SearchContext &context,
                   const PassSettings &settings,
                   const PermittedHashes &permitted)
    : context_(context), settings_(settings), diversity_(settings.index, permitted),
      // Chance is no reason to freeze anything.
      dropout_(settings.is_pre_pass() ? 100 : context.options.random_dropout,
               context.graph.num_funcs()) {}

PassOutcome BeamPass::run() {
    return run_from(make_initial_state(context_.graph, context_.editor.make_root()));
}

PassOutcome BeamPass::run_from(SearchStatePtr start) {
    if (decide(std::move(start), num_decisions())) {
        return finish();
    }
    PassOutcome outcome;
    outcome.stuck_func = next_func(decision_);
    outcome.rejections = rejections_;
    outcome.interrupted = interrupted_;
    return outcome;
}

PassOutcome BeamPass::run_by_rollouts(Rollouts &rollouts) {
    rollouts_ = &rollouts;
    return run();
}

std::vector<SearchStatePtr>
BeamPass::run_window(SearchStatePtr start, int num_decisions, size_t count) {
    std::vector<SearchStatePtr> states;
    if (decide(std::move(start), num_decisions)) {
        for (const Candidate &candidate : rest_by_cost()) {
            if (states.size() == count) {
                break;
            }
            states.push_back(materialize(candidate));
        }
    }
    return states;
}

bool BeamPass::decide(SearchStatePtr start, int end) {
    decision_ = start->num_decisions;
    const int first = decision_;
    beam_ranks_ = {start->cost()};
    beam_ = {std::move(start)};
    for (;;) {
        if (context_.budget != nullptr && context_.budget->can_stop()) {
            interrupted_ = true;
            return false;
        }
        context_.evaluator.take_rejections();
        expand_parents();
        enforce_memory();
        rejections_ = context_.evaluator.take_rejections();
        for (const RejectionTally::Line &line : rejections_.lines()) {
            context_.stats.rejections += line.count;
        }
        context_.stats.rejections_by_rule.add(rejections_);
        if (queue_.empty()) {
            return false;
        }
        report_step();
        decision_++;
        if (context_.meter != nullptr) {
            context_.meter->advance(static_cast<double>(decision_ - first) / (end - first));
        }
        if (decision_ == end) {
            return true;
        }
        select_parents();
    }
}

void BeamPass::enforce_memory() {
    if (context_.budget == nullptr) {
        return;
    }
    StateEvaluator &evaluator = context_.evaluator;
    if (evaluator.bytes() > context_.budget->known_bytes()) {
        // The trees of this step are still needed.
        evaluator.trim(0);
        context_.interner.trim();
        context_.store.trim();
    }
    context_.budget->enforce_memory(state_bytes_ + evaluated_bytes_ + context_.profiles.bytes());
}

// Look-alikes are told apart only where several passes share the work.
bool BeamPass::tells_look_alikes() const {
    return context_.options.beam_size > 1 && settings_.num_passes > 1 && !settings_.is_pre_pass();
}

int64_t BeamPass::beam_size() const {
    const int64_t size =
        context_.budget != nullptr ? context_.budget->beam_size() : context_.options.beam_size;
    return settings_.narrow_beam ? std::max(size / 2, int64_t{1}) : size;
}

void BeamPass::select_parents() {
    diversity_.begin_step();
    beam_.clear();
    beam_ranks_.clear();
    while (static_cast<int64_t>(beam_.size()) < beam_size()) {
        const std::optional<Candidate> candidate = pop();
        if (!candidate) {
            break;
        }
        beam_.push_back(materialize(*candidate));
        beam_ranks_.push_back(candidate->rank);
    }
    exhaustive_ = exhaustive_ && queue_.empty();
    if (rollouts_ != nullptr) {
        keep_promising();
    }
}

void BeamPass::keep_promising() {
    const std::vector<SearchStatePtr> completed = rollouts_->complete(beam_);
    std::vector<size_t> order;
    for (size_t i = 0; i < completed.size(); i++) {
        if (completed[i] != nullptr) {
            order.push_back(i);
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return completed[a]->cost() < completed[b]->cost();
    });
    const size_t quarter = std::max(beam_.size() / kShareOfPromising, size_t{1});
    order.resize(std::min(order.size(), quarter));
    exhaustive_ = exhaustive_ && order.size() == beam_.size();
    const std::vector<SearchStatePtr> beam = std::exchange(beam_, {});
    const std::vector<double> ranks = std::exchange(beam_ranks_, {});
    for (const size_t i : order) {
        beam_.push_back(beam[i]);
        beam_ranks_.push_back(ranks[i]);
    }
}

std::optional<Candidate> BeamPass::pop() {
    while (!queue_.empty()) {
        Candidate candidate = queue_.pop();
        if (tells_look_alikes() && !candidate.penalized) {
            const int64_t penalty = penalty_of(candidate);
            if (penalty > 1) {
                candidate.penalized = true;
                candidate.rank = penalized_rank(candidate.rank, penalty);
                if (!queue_.empty() && candidate.rank > queue_.top().rank) {
                    queue_.push(candidate);
                    continue;
                }
            }
        }
        if (!dropout_.drops(queue_.size(), context_.rng)) {
            return candidate;
        }
        exhaustive_ = false;
    }
    return std::nullopt;
}

int64_t BeamPass::penalty_of(const Candidate &candidate) {
    return diversity_.penalty(hash_of(candidate, diversity_.look_alike_depth()),
                              hash_of(candidate, diversity_.permitted_depth()));
}

// depth_hash of the tree that the candidate stands for, without building it.
uint64_t BeamPass::hash_of(const Candidate &candidate, int depth) const {
    if (candidate.kind == Candidate::Kind::Evaluated) {
        return depth_hash(*evaluated_[static_cast<size_t>(candidate.move)].tree, decision_, depth);
    }
    const LoopNest &parent = *parents_[static_cast<size_t>(candidate.parent)]->tree;
    if (candidate.kind == Candidate::Kind::Unchanged) {
        return depth_hash(parent, decision_, depth);
    }
    RootProfile &profile = *profiles_[static_cast<size_t>(candidate.parent)];
    const auto &nests = profile.nests(context_.editor, static_cast<size_t>(candidate.move));
    // Tiling changes nothing about which Funcs have loops of their own.
    DepthHash hash(parent.stored_below(), decision_, depth);
    for (size_t i = 0; i + nests.size() < parent.children.size(); i++) {
        hash.add(*parent.children[i]);
    }
    for (const LoopNestPtr &nest : nests) {
        hash.add(*nest);
    }
    return hash.value();
}

LoopNestPtr BeamPass::tree_of(const Candidate &candidate) const {
    const SearchState &parent = *parents_[static_cast<size_t>(candidate.parent)];
    switch (candidate.kind) {
    case Candidate::Kind::Unchanged:
        return parent.tree;
    case Candidate::Kind::Evaluated:
        return evaluated_[static_cast<size_t>(candidate.move)].tree;
    case Candidate::Kind::Tiled:
        break;
    }
    return profiles_[static_cast<size_t>(candidate.parent)]->tree(
        context_.editor, *parent.tree, static_cast<size_t>(candidate.move));
}

SearchStatePtr BeamPass::materialize(const Candidate &candidate) {
    const auto p = static_cast<size_t>(candidate.parent);
    const SearchStatePtr &parent = parents_[p];
    auto state = std::make_shared<SearchState>();
    state->parent = parent;
    state->tree = tree_of(candidate);
    state->num_decisions = decision_;
    state->always_inline = always_inline_[p];
    switch (candidate.kind) {
    case Candidate::Kind::Unchanged:
        state->costs = parent->costs;
        break;
    case Candidate::Kind::Evaluated:
        state->costs = evaluated_[static_cast<size_t>(candidate.move)].costs;
        break;
    case Candidate::Kind::Tiled: {
        RootProfile &profile = *profiles_[p];
        state->costs = std::make_shared<const StateCosts>(profile.state_costs(
            context_, *parent->costs, static_cast<size_t>(candidate.move), state->tree));
        break;
    }
    }
    ANDERSON_CHECK(state->cost() == candidate.cost) << "A candidate changed its cost";
    state_bytes_ += approximate_bytes(*state);
    if (context_.options.verify_feature_cache != 0) {
        verify(*state);
    }
    return state;
}

// The costs of a state must be those of its tree, computed from scratch.
void BeamPass::verify(const SearchState &state) {
    const Evaluation fresh = context_.evaluator.evaluate_afresh({state.tree, state.always_inline});
    ANDERSON_CHECK(fresh.accepted())
        << "A legal schedule became illegal: " << (fresh.rejection ? fresh.rejection->rule : "?");
    const size_t bytes = state.costs->per_stage.size() * sizeof(float);
    ANDERSON_CHECK(
        fresh.costs->root_working_set == state.costs->root_working_set &&
        std::memcmp(fresh.costs->per_stage.data(), state.costs->per_stage.data(), bytes) == 0)
        << "Remembered costs differ from those of the schedule";
}

void BeamPass::expand_parents() {
    parents_ = std::exchange(beam_, {});
    parent_ranks_ = std::exchange(beam_ranks_, {});
    queue_ = CandidateQueue();
    successors_.clear();
    sources_.clear();
    num_successors_ = 0;
    evaluated_.clear();
    evaluated_bytes_ = 0;
    profiles_.assign(parents_.size(), nullptr);
    always_inline_.clear();
    for (const SearchStatePtr &parent : parents_) {
        always_inline_.push_back(parent->always_inline);
    }

    const FuncNode &func = context_.graph.func(next_func(decision_));
    // Nothing reads the Func, so there is nothing to be computed.
    const bool dead = func.outgoing_edges.empty() && !func.is_output;
    if (func.is_input || dead) {
        for (size_t i = 0; i < parents_.size(); i++) {
            add_unchanged(i);
        }
    } else if (next_is_tiling(decision_)) {
        add_tilings(func.id);
    } else {
        add_placements(func.id);
    }
    context_.stats.states_added += num_successors_;
    queue_ = CandidateQueue(std::move(successors_), std::move(sources_));
}

void BeamPass::add(Candidate candidate, double rank) {
    candidate.rank = rank;
    candidate.sequence = num_successors_++;
    successors_.push_back(candidate);
}

// Where nothing is decided the schedule keeps its place in the queue: what was put back as a
// look-alike of another one still looks like it.
void BeamPass::add_unchanged(size_t parent) {
    Candidate candidate;
    candidate.parent = static_cast<int32_t>(parent);
    candidate.cost = parents_[parent]->cost();
    candidate.hash = full_hash(*parents_[parent]->tree);
    add(candidate, parent_ranks_[parent]);
}

void BeamPass::add_placements(int func) {
    std::vector<Placements> placements = PlacementStep(context_, settings_, func).run(parents_);
    for (size_t i = 0; i < parents_.size(); i++) {
        always_inline_[i] = placements[i].always_inline;
        for (Placements::Placed &placed : placements[i].placed) {
            Candidate candidate;
            candidate.parent = static_cast<int32_t>(i);
            candidate.kind = Candidate::Kind::Evaluated;
            candidate.move = static_cast<int32_t>(evaluated_.size());
            candidate.cost = placed.costs->total;
            candidate.hash = full_hash(*placed.tree);
            add(candidate, candidate.cost);
            evaluated_bytes_ += approximate_bytes(*placed.tree, parents_[i]->tree.get());
            evaluated_.push_back({std::move(placed.tree), std::move(placed.costs)});
        }
    }
}

void BeamPass::add_tilings(int func) {
    tilings_ = TilingStep(context_, settings_, func).run(parents_);
    for (size_t i = 0; i < parents_.size(); i++) {
        profiles_[i] = tilings_[i].profile();
        if (profiles_[i] == nullptr) {
            add_unchanged(i);
        } else {
            sources_.push_back(std::make_unique<TilingSource>(tilings_[i], i, num_successors_));
            num_successors_ += static_cast<int64_t>(tilings_[i].size());
        }
    }
}

void BeamPass::report_step() {
    const auto num_candidates = static_cast<int64_t>(queue_.size());
    if (num_candidates > kManyCandidates * context_.options.beam_size) {
        ANDERSON_LOG(1) << "Warning: " << num_candidates << " candidates for Func "
                        << context_.graph.func(next_func(decision_)).name;
    }
}

// All candidates are complete schedules.
PassOutcome BeamPass::finish() {
    PassOutcome outcome;
    diversity_.begin_step();
    std::vector<Candidate> by_cost;
    if (dropout_.active()) {
        // A sample, not the best: whatever comes through first.
        const std::optional<Candidate> chosen = pop();
        ANDERSON_CHECK(chosen) << "Dropout left nothing";
        by_cost.push_back(*chosen);
    }
    const std::vector<Candidate> rest = rest_by_cost();
    by_cost.insert(by_cost.end(), rest.begin(), rest.end());
    outcome.best = materialize(by_cost.front());
    if (context_.options.top_k > 1 && !settings_.is_pre_pass()) {
        const auto count = std::min(by_cost.size(), static_cast<size_t>(context_.options.top_k));
        for (size_t i = 0; i < count; i++) {
            outcome.ranked.push_back(materialize(by_cost[i]));
        }
    }
    outcome.exhaustive = exhaustive_ && context_.options.randomize_tilings == 0;
    if (!settings_.is_pre_pass() && settings_.index < settings_.num_passes - 1) {
        bless(by_cost, outcome);
    }
    return outcome;
}

std::vector<Candidate> BeamPass::rest_by_cost() {
    std::vector<Candidate> rest = queue_.rest();
    std::sort(rest.begin(), rest.end(), is_cheaper);
    return rest;
}

// The structures of good complete schedules, and of the partial ones on the way to them, may be
// refined by the next pass.
void BeamPass::bless(const std::vector<Candidate> &by_cost, PassOutcome &outcome) {
    const double best = by_cost.front().cost;
    const double limit = best + kBlessedExcess * std::abs(best);
    int64_t num_blessed = 0;
    for (const Candidate &candidate : by_cost) {
        if (candidate.cost > limit || num_blessed >= context_.options.beam_size) {
            break;
        }
        num_blessed++;
        const SearchStatePtr state = materialize(candidate);
        for (const SearchState *s = state.get(); s != nullptr; s = s->parent.get()) {
            outcome.permitted.insert(depth_hash(*s->tree, s->num_decisions, settings_.index));
        }
    }
}

}  // namespace anderson2021
