#include "lowering/root_placements.h"

#include <algorithm>
#include <vector>

#include "schedule/unknown_sizes.h"

namespace anderson2021 {

namespace {

/// A Func that is not computed at the root.
struct Placement {
    int func = -1;
    /// Its allocation has a size that the text of the program determines.
    bool exact = false;
    /// Outermost levels of all its stages.
    std::vector<const LoopNest *> nests;
};

void collect_placements(const LoopNest &nest,
                        const PipelineGraph &graph,
                        std::vector<Placement> &placements) {
    for (const LoopNestPtr &c : nest.children) {
        if (c->innermost) {
            continue;
        }
        if (c->stage_id != nest.stage_id) {
            const auto known = std::find_if(placements.begin(),
                                            placements.end(),
                                            [&](const Placement &p) { return p.func == c->func; });
            if (known != placements.end()) {
                known->nests.push_back(c.get());
            } else {
                placements.push_back(
                    {c->func, has_exact_size(graph.func(c->func), nest), {c.get()}});
            }
        }
        collect_placements(*c, graph, placements);
    }
}

/// If `outer` goes to the root, `p` has to follow: it is read by `outer` and not computed inside,
/// or it is computed inside, where there are only threads then, and has no constant size.
bool has_to_follow(const Placement &p, const Placement &outer) {
    return std::any_of(outer.nests.begin(), outer.nests.end(), [&](const LoopNest *nest) {
        return nest->computes(p.func) ? !p.exact && p.func != outer.func : nest->calls(p.func);
    });
}

}  // namespace

BitSet
find_root_placements(const LoopNest &root, const PipelineGraph &graph, const GpuDevice &device) {
    const BitSet following_outputs = find_funcs_following_outputs(graph);
    std::vector<Placement> placements;
    BitSet to_root(graph.num_funcs());
    for (const LoopNestPtr &task : root.children) {
        collect_placements(*task, graph, placements);
        for (const MisplacedFunc &f :
             find_misplaced_funcs(*task, graph, device, following_outputs)) {
            to_root.insert(f.func);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const Placement &outer : placements) {
            for (const Placement &p : placements) {
                if (to_root.contains(outer.func) && !to_root.contains(p.func) &&
                    has_to_follow(p, outer)) {
                    to_root.insert(p.func);
                    changed = true;
                }
            }
        }
    }
    return to_root;
}

}  // namespace anderson2021
