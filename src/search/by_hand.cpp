#include "search/by_hand.h"

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/schedule_text.h"
#include "search/choice_text.h"
#include "search/placement_step.h"
#include "search/replay.h"
#include "search/tiling_step.h"

namespace anderson2021 {

PassOutcome ByHand::run() {
    const int num_decisions = 2 * context_.graph.num_funcs();
    SearchStatePtr state = make_initial_state(context_.graph, context_.editor.make_root());
    PassOutcome outcome;
    while (state->num_decisions < num_decisions) {
        context_.evaluator.take_rejections();
        const Options options = options_of(state);
        const RejectionTally rejections = context_.evaluator.take_rejections();
        Answer answer;
        if (options.list.empty()) {
            const int func = next_func(state->num_decisions);
            if (asked_.empty() ||
                !chooser_.take_back(context_.graph.func(func).name, rejections.text())) {
                outcome.stuck_func = func;
                outcome.rejections = rejections;
                return outcome;
            }
            answer.kind = Answer::Kind::Back;
        } else if (options.list.size() > 1) {
            answer = chooser_.choose(decision_of(state, options));
        }
        switch (answer.kind) {
        case Answer::Kind::Back:
            state = asked_.back();
            asked_.pop_back();
            break;
        case Answer::Kind::Automatic:
            outcome = BeamPass(context_, settings_, {}).run_from(state);
            if (outcome.best != nullptr) {
                chooser_.done(outcome.best->cost());
            }
            return outcome;
        case Answer::Kind::Take:
            if (options.list.size() > 1) {
                asked_.push_back(state);
            }
            state = take(state, options, answer.choice);
            break;
        }
    }
    chooser_.done(state->cost());
    outcome.best = state;
    return outcome;
}

ByHand::Options ByHand::options_of(const SearchStatePtr &state) {
    const FuncNode &func = context_.graph.func(next_func(state->num_decisions));
    const bool dead = func.outgoing_edges.empty() && !func.is_output;
    Options options;
    if (!func.is_input && !dead) {
        options = next_is_tiling(state->num_decisions) ? tilings(state, func.id)
                                                       : placements(state, func.id);
    }
    const bool nothing_to_do = func.is_input || dead ||
                               (next_is_tiling(state->num_decisions) && options.profile == nullptr);
    if (nothing_to_do) {
        options.list.push_back({{"", state->cost()}, state->tree, state->costs, 0});
    }
    std::stable_sort(options.list.begin(), options.list.end(), [](const auto &a, const auto &b) {
        return a.choice.cost < b.choice.cost;
    });
    std::map<std::string, int> seen;
    for (Option &option : options.list) {
        const int number = ++seen[option.choice.text];
        if (number > 1) {
            option.choice.text += " (" + std::to_string(number) + ")";
        }
    }
    return options;
}

ByHand::Options ByHand::placements(const SearchStatePtr &state, int func) {
    Placements found = std::move(PlacementStep(context_, settings_, func).run({state})[0]);
    Options options;
    options.always_inline = found.always_inline;
    for (Placements::Placed &placed : found.placed) {
        std::string text = describe_placement(*state->tree, *placed.tree, func, context_.graph);
        options.list.push_back({{std::move(text), placed.costs->total},
                                std::move(placed.tree),
                                std::move(placed.costs),
                                0});
    }
    context_.stats.states_added += static_cast<int64_t>(options.list.size());
    return options;
}

ByHand::Options ByHand::tilings(const SearchStatePtr &state, int func) {
    const Tilings found = std::move(TilingStep(context_, settings_, func).run({state})[0]);
    Options options;
    options.profile = found.profile();
    for (size_t i = 0; i < found.size(); i++) {
        const size_t entry = found.entry(i);
        options.list.push_back(
            {{describe_tiling(options.profile->nests(context_.editor, entry)), found.cost(i)},
             nullptr,
             nullptr,
             entry});
    }
    context_.stats.states_added += static_cast<int64_t>(options.list.size());
    return options;
}

Decision ByHand::decision_of(const SearchStatePtr &state, const Options &options) const {
    const int func = next_func(state->num_decisions);
    Decision decision;
    decision.name = context_.graph.func(func).name;
    if (next_is_tiling(state->num_decisions)) {
        decision.name += " tiles";
    }
    for (const FuncNode &other : context_.graph.funcs) {
        decision.num_funcs += other.is_input ? 0 : 1;
        decision.func_number += !other.is_input && other.id <= func ? 1 : 0;
    }
    for (const Option &option : options.list) {
        decision.choices.push_back(option.choice);
    }
    decision.can_go_back = !asked_.empty();
    decision.schedule = [this, state] { return print_schedule(*state->tree, context_.graph); };
    return decision;
}

SearchStatePtr ByHand::take(const SearchStatePtr &state, const Options &options, size_t choice) {
    const Option &option = options.list[choice];
    if (option.tree == nullptr) {
        return Replay::choose_tiling(context_, state, *options.profile, option.tiling);
    }
    auto next = make_successor(state);
    next->tree = option.tree;
    next->costs = option.costs;
    if (options.always_inline != nullptr) {
        next->always_inline = options.always_inline;
    }
    return next;
}

}  // namespace anderson2021
