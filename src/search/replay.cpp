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
    std::vector<SearchStatePtr> states{std::move(start)};
    complete_all(states);
    return std::move(states[0]);
}

void Replay::complete_all(std::vector<SearchStatePtr> &states) {
    advance_all(states, example_->num_decisions);
}

void Replay::advance_all(std::vector<SearchStatePtr> &states, int num_decisions) {
    std::vector<SearchStatePtr> going;
    std::vector<size_t> owners;
    for (size_t i = 0; i < states.size(); i++) {
        if (states[i] != nullptr) {
            going.push_back(std::move(states[i]));
            owners.push_back(i);
        }
    }
    while (!going.empty() && going.front()->num_decisions < num_decisions) {
        if (context_.budget != nullptr && context_.budget->is_over()) {
            return;
        }
        step(going);
        size_t kept = 0;
        for (size_t i = 0; i < going.size(); i++) {
            if (going[i] != nullptr) {
                owners[kept] = owners[i];
                going[kept++] = std::move(going[i]);
            }
        }
        going.resize(kept);
    }
    for (size_t i = 0; i < going.size(); i++) {
        states[owners[i]] = std::move(going[i]);
    }
}

// Schedules that have no legal choice become null.
void Replay::step(std::vector<SearchStatePtr> &states) {
    const int num_decisions = states.front()->num_decisions;
    const FuncNode &func = context_.graph.func(next_func(num_decisions));
    const bool nothing = func.is_input || (func.outgoing_edges.empty() && !func.is_output);
    if (!nothing && !next_is_tiling(num_decisions)) {
        place(states, func.id);
        return;
    }
    for (SearchStatePtr &state : states) {
        state = nothing ? make_successor(state) : tile(state, func.id);
    }
}

// Mostly the move of the example is legal, and the others need not be looked at.
PassSettings Replay::same_move(const LoopNest &example, int func, bool inlined) const {
    PassSettings same = settings_;
    same.moves.inlining = settings_.moves.inlining && inlined;
    same.moves.compute_root = settings_.moves.compute_root && !inlined;
    const bool fused =
        example.stored_below().contains(func) &&
        !std::binary_search(example.store_set().begin(), example.store_set().end(), func);
    same.moves.compute_at_block = settings_.moves.compute_at_block && fused;
    same.moves.compute_at_thread = settings_.moves.compute_at_thread && fused;
    return same;
}

void Replay::place(std::vector<SearchStatePtr> &states, int func) {
    const auto decided = static_cast<size_t>(states.front()->num_decisions) + 1;
    const LoopNest &example = *states_[decided]->tree;
    const Spot wanted = inlined_.contains(func) ? Spot() : find_spot(example, func);
    const auto distance_of = [&](const LoopNest &tree) {
        return distance(find_spot(tree, func), wanted);
    };
    std::vector<Placements> placements(states.size());
    if (context_.partial == nullptr) {
        const PassSettings same = same_move(example, func, wanted.path == 0);
        PlacementStep step(context_, same, func);
        step.rank_by(distance_of);
        placements = step.run(states);
    }
    std::vector<SearchStatePtr> open;
    std::vector<size_t> owners;
    for (size_t i = 0; i < states.size(); i++) {
        if (placements[i].placed.empty()) {
            open.push_back(states[i]);
            owners.push_back(i);
        }
    }
    if (!open.empty()) {
        std::vector<Placements> others = PlacementStep(context_, settings_, func).run(open);
        for (size_t i = 0; i < open.size(); i++) {
            placements[owners[i]] = std::move(others[i]);
        }
    }
    for (size_t i = 0; i < states.size(); i++) {
        const Placements::Placed *best = nullptr;
        std::tuple<int, double> best_key;
        for (const Placements::Placed &placed : placements[i].placed) {
            const std::tuple<int, double> key(distance_of(*placed.tree), placed.costs->total);
            if (best == nullptr || key < best_key) {
                best = &placed;
                best_key = key;
            }
        }
        if (best == nullptr) {
            states[i] = nullptr;
            continue;
        }
        auto next = make_successor(states[i]);
        next->tree = best->tree;
        next->costs = best->costs;
        next->always_inline = placements[i].always_inline;
        states[i] = std::move(next);
    }
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
