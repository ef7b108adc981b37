#include "lowering/root_placements.h"

#include <algorithm>
#include <vector>

namespace anderson2021 {

namespace {

/// A Func that is not computed at the root.
struct Placement {
    int func = -1;
    /// Outermost levels of all its stages.
    std::vector<const LoopNest *> nests;
};

/// The allocation of a Func computed at `site` has a size that the text of the program determines.
bool has_exact_size(const FuncNode &func, const LoopNest &site) {
    const FuncRegion &region = site.regions->of(func.id);
    for (int d = 0; d < func.dims(); d++) {
        if (!region.computed(d).exact) {
            return false;
        }
    }
    return true;
}

class PlacementWalk {
public:
    explicit PlacementWalk(const PipelineGraph &graph) : graph_(graph) {}

    void visit(const LoopNest &nest, bool in_thread) {
        for (const LoopNestPtr &c : nest.children) {
            if (c->innermost) {
                continue;
            }
            if (!nest.is_root() && c->stage_id != nest.stage_id) {
                add(*c);
                if (in_thread && !has_exact_size(graph_.func(c->func), nest)) {
                    to_root.insert(c->func);
                }
            }
            // Without block loops everything runs in a single thread.
            const bool single =
                nest.is_root() && std::none_of(graph_.stage(c->stage_id).loops.begin(),
                                               graph_.stage(c->stage_id).loops.end(),
                                               [](const LoopDim &d) { return !d.rvar; });
            visit(*c, in_thread || single || c->axis == GpuAxis::Thread);
        }
    }

    std::vector<Placement> placements;
    BitSet to_root;

private:
    void add(const LoopNest &nest) {
        for (Placement &p : placements) {
            if (p.func == nest.func) {
                p.nests.push_back(&nest);
                return;
            }
        }
        placements.push_back({nest.func, {&nest}});
    }

    const PipelineGraph &graph_;
};

bool reads_from_outside(const Placement &reader, int func) {
    return std::any_of(reader.nests.begin(), reader.nests.end(), [&](const LoopNest *nest) {
        return nest->calls(func) && !nest->computes(func);
    });
}

}  // namespace

BitSet find_root_placements(const LoopNest &root, const PipelineGraph &graph) {
    PlacementWalk walk(graph);
    walk.visit(root, false);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Placement &reader : walk.placements) {
            for (const Placement &p : walk.placements) {
                if (walk.to_root.contains(reader.func) && !walk.to_root.contains(p.func) &&
                    reads_from_outside(reader, p.func)) {
                    walk.to_root.insert(p.func);
                    changed = true;
                }
            }
        }
    }
    return walk.to_root;
}

}  // namespace anderson2021
