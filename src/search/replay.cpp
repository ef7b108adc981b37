#include "search/replay.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "search/placement_step.h"
#include "search/tiling_step.h"
#include "support/hash.h"

namespace anderson2021 {

namespace {

// Where a Func is computed, and how its own loops look there.
struct Spot {
    uint64_t path = 0;
    uint64_t loops = 0;
};

void add_loops(const LoopNest &nest, uint64_t &hash) {
    hash_combine(hash, static_cast<uint64_t>(nest.stage_id));
    hash_combine(hash, static_cast<uint64_t>(nest.axis));
    hash_combine(hash, static_cast<uint64_t>(nest.vector_dim));
    for (const int64_t size : nest.size) {
        hash_combine(hash, static_cast<uint64_t>(size));
    }
    for (const LoopNestPtr &child : nest.children) {
        if (child->func == nest.func) {
            add_loops(*child, hash);
        }
    }
}

bool find_loops(const LoopNest &nest, int func, uint64_t path, Spot &spot) {
    hash_combine(path, static_cast<uint64_t>(nest.stage_id));
    hash_combine(path, static_cast<uint64_t>(nest.axis));
    bool found = false;
    for (const LoopNestPtr &child : nest.children) {
        if (child->func == func) {
            spot.path = path;
            add_loops(*child, spot.loops);
            found = true;
        }
    }
    for (size_t i = 0; i < nest.children.size() && !found; i++) {
        found = nest.children[i]->stored_below().contains(func) &&
                find_loops(*nest.children[i], func, path, spot);
    }
    return found;
}

// All zero for an inlined Func.
Spot find_spot(const LoopNest &root, int func) {
    Spot spot;
    find_loops(root, func, 1, spot);
    return spot;
}

// 0 at the same place with the same loops, 1 at the same place, 2 elsewhere.
int distance(const Spot &spot, const Spot &wanted) {
    if (spot.path != wanted.path) {
        return 2;
    }
    return spot.loops == wanted.loops ? 0 : 1;
}

}  // namespace

Replay::Replay(SearchContext &context,
               const PassSettings &settings,
               SearchStatePtr example,
               const BitSet &inlined)
    : context_(context), settings_(settings), example_(std::move(example)), inlined_(inlined),
      states_(static_cast<size_t>(example_->num_decisions) + 1) {
    for (const SearchState *s = example_.get(); s != nullptr; s = s->parent.get()) {
        states_[static_cast<size_t>(s->num_decisions)] = s;
    }
}

SearchStatePtr Replay::complete(SearchStatePtr start) {
    return advance(std::move(start), example_->num_decisions);
}

SearchStatePtr Replay::advance(SearchStatePtr start, int num_decisions) {
    while (start != nullptr && start->num_decisions < num_decisions) {
        const bool is_over = context_.budget != nullptr && context_.budget->is_over();
        start = is_over ? nullptr : step(start);
    }
    return start;
}

SearchStatePtr Replay::step(const SearchStatePtr &state) {
    const FuncNode &func = context_.graph.func(next_func(state->num_decisions));
    if (func.is_input || (func.outgoing_edges.empty() && !func.is_output)) {
        return make_successor(state);
    }
    return next_is_tiling(state->num_decisions) ? tile(state, func.id) : place(state, func.id);
}

SearchStatePtr Replay::place(const SearchStatePtr &state, int func) {
    const LoopNest &example = *states_[static_cast<size_t>(state->num_decisions) + 1]->tree;
    const Spot wanted = inlined_.contains(func) ? Spot() : find_spot(example, func);
    // Mostly the move of the example is legal, and the others need not be looked at.
    PassSettings same_move = settings_;
    same_move.moves.inlining = settings_.moves.inlining && wanted.path == 0;
    same_move.moves.compute_root = settings_.moves.compute_root && wanted.path != 0;
    const bool fused =
        example.stored_below().contains(func) &&
        !std::binary_search(example.store_set().begin(), example.store_set().end(), func);
    same_move.moves.compute_at_block = settings_.moves.compute_at_block && fused;
    same_move.moves.compute_at_thread = settings_.moves.compute_at_thread && fused;
    Placements placements;
    if (context_.partial == nullptr) {
        PlacementStep step(context_, same_move, func);
        step.rank_by([&](const LoopNest &tree) { return distance(find_spot(tree, func), wanted); });
        placements = std::move(step.run({state})[0]);
    }
    if (placements.placed.empty()) {
        placements = std::move(PlacementStep(context_, settings_, func).run({state})[0]);
    }
    const Placements::Placed *best = nullptr;
    std::tuple<int, double> best_key;
    for (const Placements::Placed &placed : placements.placed) {
        const std::tuple<int, double> key(distance(find_spot(*placed.tree, func), wanted),
                                          placed.costs->total);
        if (best == nullptr || key < best_key) {
            best = &placed;
            best_key = key;
        }
    }
    if (best == nullptr) {
        return nullptr;
    }
    auto next = make_successor(state);
    next->tree = best->tree;
    next->costs = best->costs;
    next->always_inline = placements.always_inline;
    return next;
}

// Mostly the tiling of the example is legal, and the costs of others are of no interest.
SearchStatePtr Replay::tile_alike(const SearchStatePtr &state, int func, uint64_t wanted) {
    if (context_.partial != nullptr ||
        !TilingStep::needs_tiling(context_.graph, *state->tree, func)) {
        return nullptr;
    }
    RootProfile &profile = context_.profiles.get(context_, func, *state, false);
    for (size_t entry = 0; entry < profile.size(); entry++) {
        uint64_t hash = 0;
        for (int stage = 0; stage < profile.num_stages(); stage++) {
            hash_combine(hash, profile.hash(entry, stage));
        }
        if (hash == wanted) {
            SearchStatePtr next = choose_tiling(context_, state, profile, entry);
            return std::isfinite(next->cost()) ? next : nullptr;
        }
    }
    return nullptr;
}

SearchStatePtr Replay::tile(const SearchStatePtr &state, int func) {
    const LoopNest &example = *states_[static_cast<size_t>(state->num_decisions) + 1]->tree;
    uint64_t wanted = 0;
    for (const LoopNestPtr &child : example.children) {
        if (child->func == func) {
            hash_combine(wanted, child->structural_hash());
        }
    }
    if (SearchStatePtr alike = tile_alike(state, func, wanted)) {
        return alike;
    }
    const Tilings tilings = std::move(TilingStep(context_, settings_, func).run({state})[0]);
    auto next = make_successor(state);
    RootProfile *const profile = tilings.profile();
    if (profile == nullptr) {
        return next;
    }
    if (tilings.size() == 0) {
        return nullptr;
    }
    return choose_tiling(context_, state, *profile, tilings.entry(0));
}

SearchStatePtr Replay::choose_tiling(SearchContext &context,
                                     const SearchStatePtr &state,
                                     RootProfile &profile,
                                     size_t entry) {
    auto next = make_successor(state);
    next->tree = profile.tree(context.editor, *state->tree, entry);
    next->costs = std::make_shared<const StateCosts>(
        profile.state_costs(context, *state->costs, entry, next->tree));
    return next;
}

}  // namespace anderson2021
