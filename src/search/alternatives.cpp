#include "search/alternatives.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/placement_step.h"
#include "search/replay.h"

namespace anderson2021 {

namespace {

// Ways to be at the same place that are completed, those with the cheapest beginnings. Completing
// one takes a step per Func, so large pipelines have to do with fewer.
constexpr size_t kTriesPerPlace = 3;
constexpr size_t kTriesPerPlaceOfManyFuncs = 1;
constexpr int kManyFuncs = 30;

// A schedule that costs this much more (as a share of the best schedule) than the best one did when
// it was as far, that many decisions later, will not catch up.
struct Horizon {
    int num_decisions;
    double excess;
};
constexpr Horizon kHorizons[] = {{1, 0.1}, {16, 0.01}};

// Successors at one place, cheapest first.
struct Group {
    FuncPlace place;
    std::vector<const Placements::Placed *> placed;
};

std::vector<Group> group_by_place(const Placements &placements, int func) {
    std::vector<Group> groups;
    for (const Placements::Placed &placed : placements.placed) {
        const FuncPlace place = place_of(*placed.tree, func);
        auto group = std::find_if(
            groups.begin(), groups.end(), [&](const Group &g) { return g.place == place; });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), Group{place, {}});
        }
        group->placed.push_back(&placed);
    }
    for (Group &group : groups) {
        std::stable_sort(
            group.placed.begin(), group.placed.end(), [](const auto *a, const auto *b) {
                return a->costs->total < b->costs->total;
            });
    }
    return groups;
}

SearchStatePtr successor(const SearchStatePtr &parent,
                         const Placements &placements,
                         const Placements::Placed &placed) {
    auto state = make_successor(parent);
    state->tree = placed.tree;
    state->costs = placed.costs;
    state->always_inline = placements.always_inline;
    return state;
}

// Completes rivals; those that have become too expensive on the way become null.
void complete_rivals(Replay &replay,
                     std::vector<SearchStatePtr> &states,
                     const SearchStatePtr &best,
                     bool promising_only) {
    int horizon = states.empty() ? 0 : states.front()->num_decisions;
    for (const Horizon &h : kHorizons) {
        if (!promising_only) {
            break;
        }
        horizon = std::min(horizon + h.num_decisions, best->num_decisions);
        replay.advance_all(states, horizon);
        const double limit = replay.example(horizon).cost() + h.excess * std::abs(best->cost());
        for (SearchStatePtr &state : states) {
            if (state != nullptr && state->cost() > limit) {
                state = nullptr;
            }
        }
    }
    replay.complete_all(states);
}

FuncAlternatives find_for(SearchContext &context,
                          const PassSettings &settings,
                          const SearchStatePtr &best,
                          const SearchStatePtr &parent) {
    FuncAlternatives result;
    result.func = next_func(parent->num_decisions);
    const FuncPlace chosen = place_of(*best->tree, result.func);
    result.places.push_back({chosen, best->cost(), true});
    context.evaluator.take_rejections();
    const bool many = context.graph.num_non_input_funcs() > kManyFuncs;
    for (const Rival &rival :
         find_rivals(context,
                     settings,
                     best,
                     parent,
                     {many ? kTriesPerPlaceOfManyFuncs : kTriesPerPlace, false})) {
        if (!(rival.place == chosen)) {
            result.places.push_back({rival.place, rival.state->cost(), false});
        }
    }
    result.rejected = context.evaluator.take_rejections();
    std::stable_sort(result.places.begin(), result.places.end(), [](const auto &a, const auto &b) {
        return a.cost < b.cost;
    });
    return result;
}

}  // namespace

std::vector<Rival> find_rivals(SearchContext &context,
                               const PassSettings &settings,
                               const SearchStatePtr &best,
                               const SearchStatePtr &parent,
                               const RivalEffort &effort) {
    const int func = next_func(parent->num_decisions);
    const Placements placements =
        std::move(PlacementStep(context, settings, func).run({parent})[0]);
    Replay replay(context, settings, best);
    const std::vector<Group> groups = group_by_place(placements, func);
    std::vector<SearchStatePtr> states;
    std::vector<size_t> group_of;
    for (size_t g = 0; g < groups.size(); g++) {
        const std::vector<const Placements::Placed *> &placed = groups[g].placed;
        for (size_t i = 0; i < std::min(placed.size(), effort.tries_per_place); i++) {
            states.push_back(successor(parent, placements, *placed[i]));
            group_of.push_back(g);
        }
    }
    complete_rivals(replay, states, best, effort.promising_only);
    std::vector<Rival> rivals;
    for (size_t i = 0; i < states.size(); i++) {
        if (states[i] == nullptr) {
            continue;
        }
        const FuncPlace &place = groups[group_of[i]].place;
        if (rivals.empty() || !(rivals.back().place == place)) {
            rivals.push_back({place, states[i]});
        } else if (states[i]->cost() < rivals.back().state->cost()) {
            rivals.back().state = states[i];
        }
    }
    return rivals;
}

std::vector<FuncAlternatives> find_alternatives(SearchContext &context,
                                                const PassSettings &settings,
                                                const SearchStatePtr &best) {
    // From the empty schedule on.
    std::vector<SearchStatePtr> way;
    for (SearchStatePtr s = best; s != nullptr; s = s->parent) {
        way.insert(way.begin(), s);
    }
    std::vector<FuncAlternatives> result;
    for (const SearchStatePtr &parent : way) {
        const int func = next_func(parent->num_decisions);
        if (parent == best || next_is_tiling(parent->num_decisions)) {
            continue;
        }
        const FuncNode &node = context.graph.func(func);
        if (!node.is_input && !(node.outgoing_edges.empty() && !node.is_output)) {
            result.push_back(find_for(context, settings, best, parent));
        }
    }
    return result;
}

}  // namespace anderson2021
