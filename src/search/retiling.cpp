#include "search/retiling.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "search/replay.h"
#include "search/tiling_step.h"
#include "space/inline_move.h"

namespace anderson2021 {

namespace {

// Tilings compared, the most promising ones.
constexpr size_t kMaxTilings = 1024;
// As a share of the best schedule, what a schedule may cost more when the Funcs in the blocks have
// been placed and still be completed.
constexpr double kMaxExcess = 0.01;

// Funcs computed in the blocks of `func`, itself excepted, by id.
BitSet funcs_inside(const LoopNest &root, int func) {
    BitSet inside;
    BitSet self;
    self.insert(func);
    for (const LoopNestPtr &child : root.children) {
        if (child->func == func) {
            inside.insert(child->computed());
        }
    }
    inside.remove(self);
    return inside;
}

// The tree with other nests for `func`.
LoopNestPtr with_nests(const LoopNestEditor &editor,
                       const LoopNest &root,
                       int func,
                       const std::vector<LoopNestPtr> &nests) {
    std::vector<LoopNestPtr> children = root.children;
    size_t next = 0;
    for (LoopNestPtr &child : children) {
        if (child->func == func) {
            child = nests[next++];
        }
    }
    return editor.with_children(root, std::move(children));
}

// `best` when it had just placed `func` at the root, ready for a tiling; null if it is not there.
SearchStatePtr untiled(SearchContext &context, const SearchStatePtr &best, int func) {
    SearchStatePtr placed = best;
    while (placed->num_decisions > 2 * func + 1) {
        placed = placed->parent;
    }
    const bool can =
        context.partial == nullptr && TilingStep::needs_tiling(context.graph, *placed->tree, func);
    return can ? placed : nullptr;
}

Extents num_blocks(const RootTiling &tiling) {
    Extents blocks = tiling.outer;
    for (size_t i = 0; i < blocks.size(); i++) {
        blocks[i] = (blocks[i] + tiling.threads[i] - 1) / tiling.threads[i];
    }
    return blocks;
}

// One tiling per size of blocks: the cheapest one for the Func alone.
std::vector<size_t> pick_block_sizes(const Tilings &tilings, size_t max_count) {
    std::vector<size_t> picked;
    std::set<Extents> known;
    for (size_t i = 0; i < tilings.size() && picked.size() < max_count; i++) {
        const size_t entry = tilings.entry(i);
        if (known.insert(num_blocks(tilings.profile()->tiling(entry))).second) {
            picked.push_back(entry);
        }
    }
    return picked;
}

}  // namespace

SearchStatePtr
retile(SearchContext &context, const PassSettings &settings, const SearchStatePtr &best, int func) {
    const SearchStatePtr placed = untiled(context, best, func);
    const BitSet inside = funcs_inside(*best->tree, func);
    bool can = placed != nullptr && (settings.moves.inlining || inside.empty());
    inside.for_each([&](int f) { can = can && can_inline(context.graph.func(f)); });
    if (!can) {
        return nullptr;
    }
    const Tilings tilings = std::move(TilingStep(context, settings, func).run({placed})[0]);
    std::vector<EvaluationRequest> requests(std::min(tilings.size(), kMaxTilings));
    context.pool.parallel_for(static_cast<int64_t>(requests.size()), [&](int64_t n) {
        const auto i = static_cast<size_t>(n);
        std::vector<LoopNestPtr> nests = tilings.profile()->nests(context.editor, tilings.entry(i));
        for (LoopNestPtr &nest : nests) {
            // Consumers come first.
            inside.for_each([&](int f) { nest = context.editor.inline_func(nest, f); });
        }
        requests[i] = {
            with_nests(context.editor, *best->tree, func, nests), best->always_inline, best.get()};
    });
    const std::vector<Evaluation> evaluations = context.evaluator.evaluate(requests);
    const Evaluation *cheapest = nullptr;
    for (const Evaluation &e : evaluations) {
        if (e.accepted() && e.costs->total < (cheapest ? cheapest->costs->total : best->cost())) {
            cheapest = &e;
        }
    }
    if (cheapest == nullptr) {
        return nullptr;
    }
    // Decision by decision, so that further refinements know how the schedule comes about.
    const size_t entry = tilings.entry(static_cast<size_t>(cheapest - evaluations.data()));
    Replay replay(context, settings, best, inside);
    return replay.complete(Replay::choose_tiling(context, placed, *tilings.profile(), entry));
}

std::vector<SearchStatePtr> retile_fused(SearchContext &context,
                                         const PassSettings &settings,
                                         const SearchStatePtr &best,
                                         int func,
                                         size_t max_block_sizes) {
    const SearchStatePtr placed = untiled(context, best, func);
    int last_inside = -1;
    funcs_inside(*best->tree, func).for_each([&](int f) { last_inside = f; });
    if (placed == nullptr || last_inside < 0) {
        return {};
    }
    const int horizon = 2 * (last_inside + 1);
    const Tilings tilings = std::move(TilingStep(context, settings, func).run({placed})[0]);
    Replay replay(context, settings, best);
    const double limit = replay.example(horizon).cost() + kMaxExcess * std::abs(best->cost());
    std::vector<SearchStatePtr> states;
    for (const size_t entry : pick_block_sizes(tilings, max_block_sizes)) {
        states.push_back(Replay::choose_tiling(context, placed, *tilings.profile(), entry));
    }
    replay.advance_all(states, horizon);
    for (SearchStatePtr &state : states) {
        if (state != nullptr && state->cost() > limit) {
            state = nullptr;
        }
    }
    replay.complete_all(states);
    const auto is_no_better = [&](const SearchStatePtr &state) {
        return state == nullptr || state->cost() >= best->cost();
    };
    states.erase(std::remove_if(states.begin(), states.end(), is_no_better), states.end());
    return states;
}

}  // namespace anderson2021
