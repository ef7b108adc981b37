#include "lowering/root_placements.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lowering/size_conditions.h"

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

// How much larger than planned an array of variable size may turn out: twice the size in two
// dimensions.
constexpr int64_t kGrowth = 4;

class PlacementWalk {
public:
    PlacementWalk(const PipelineGraph &graph, const GpuDevice &device)
        : graph_(graph), device_(device), follows_outputs_(find_funcs_following_outputs(graph)) {}

    void visit_root(const LoopNest &root) {
        for (const LoopNestPtr &c : root.children) {
            shared_bytes_ = 0;
            variable_.clear();
            // Without block loops everything runs in a single thread.
            const std::vector<LoopDim> &loops = graph_.stage(c->stage_id).loops;
            const bool single_thread =
                std::all_of(loops.begin(), loops.end(), [](const LoopDim &d) { return d.rvar; });
            visit(*c, single_thread);
            for (const auto &[func, bytes] : variable_) {
                if (shared_bytes_ + (kGrowth - 1) * bytes > device_.shared_bytes_per_block) {
                    to_root.insert(func);
                }
            }
        }
    }

    std::vector<Placement> placements;
    BitSet to_root;

private:
    void visit(const LoopNest &nest, bool in_thread) {
        in_thread = in_thread || nest.axis == GpuAxis::Thread;
        for (const LoopNestPtr &c : nest.children) {
            if (c->innermost) {
                continue;
            }
            if (c->stage_id != nest.stage_id) {
                add(*c, nest, in_thread);
            }
            visit(*c, in_thread);
        }
    }

    void add(const LoopNest &nest, const LoopNest &site, bool in_thread) {
        for (Placement &p : placements) {
            if (p.func == nest.func) {
                p.nests.push_back(&nest);
                return;
            }
        }
        const bool exact = has_exact_size(graph_.func(nest.func), site);
        placements.push_back({nest.func, exact, {&nest}});
        if (in_thread) {
            if (!exact) {
                to_root.insert(nest.func);
            }
            return;
        }
        const int64_t bytes = site.regions->of(nest.func).bytes_computed();
        shared_bytes_ += bytes;
        if (!exact && !follows_outputs_.contains(nest.func)) {
            variable_.emplace_back(nest.func, bytes);
        }
    }

    const PipelineGraph &graph_;
    const GpuDevice &device_;
    const BitSet follows_outputs_;
    /// Of the current root child: bytes in shared memory, and the Funcs whose size may vary.
    int64_t shared_bytes_ = 0;
    std::vector<std::pair<int, int64_t>> variable_;
};

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
    PlacementWalk walk(graph, device);
    walk.visit_root(root);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Placement &outer : walk.placements) {
            for (const Placement &p : walk.placements) {
                if (walk.to_root.contains(outer.func) && !walk.to_root.contains(p.func) &&
                    has_to_follow(p, outer)) {
                    walk.to_root.insert(p.func);
                    changed = true;
                }
            }
        }
    }
    return walk.to_root;
}

}  // namespace anderson2021
