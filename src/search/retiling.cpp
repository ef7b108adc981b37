#include "search/retiling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "search/replay.h"
#include "search/tiling_step.h"
#include "space/inline_move.h"

namespace anderson2021 {

namespace {

// Tilings compared, the most promising ones.
constexpr size_t kMaxTilings = 256;

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

}  // namespace

SearchStatePtr
retile(SearchContext &context, const PassSettings &settings, const SearchStatePtr &best, int func) {
    SearchStatePtr placed = best;
    while (placed->num_decisions > 2 * func + 1) {
        placed = placed->parent;
    }
    const BitSet inside = funcs_inside(*best->tree, func);
    bool can = context.partial == nullptr &&
               TilingStep::needs_tiling(context.graph, *placed->tree, func) &&
               (settings.moves.inlining || inside.empty());
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

}  // namespace anderson2021
