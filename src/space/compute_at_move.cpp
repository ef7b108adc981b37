#include "space/compute_at_move.h"

#include <utility>

#include "space/stage_extents.h"
#include "tiling/thread_tilings.h"

namespace anderson2021 {

std::vector<LoopNestPtr>
ComputeAtMove::propose(const LoopNestPtr &root, int func, int vector_dim) const {
    return places_at(root, {func, vector_dim}, {});
}

std::vector<LoopNestPtr>
ComputeAtMove::places_at(const LoopNestPtr &nest, const Target &target, const Place &place) const {
    std::vector<LoopNestPtr> results;
    if (place.parent != nullptr && nest->regions->of(target.func).points_computed() >=
                                       place.parent->regions->of(target.func).points_computed()) {
        return results;
    }
    const FuncNode &func = editor_.graph().func(target.func);
    Place here = place;
    if (nest->axis == GpuAxis::Block) {
        here.block_threads = nest->union_thread_extents().to_vector();
    }
    if (allows(*nest, func, here.in_thread)) {
        place_here(*nest, target, here, results);
    }
    if (func.needs_root()) {
        return results;
    }

    size_t num_callers = 0, caller = 0;
    for (size_t i = 0; i < nest->children.size(); i++) {
        if (nest->children[i]->calls(target.func)) {
            num_callers++;
            caller = i;
        }
    }
    if (num_callers != 1 || !may_descend(*nest, *nest->children[caller], here)) {
        return results;
    }
    const LoopNestPtr &child = nest->children[caller];
    Place below = here;
    below.parent = nest.get();
    below.in_thread = here.in_thread || child->axis == GpuAxis::Thread;
    for (LoopNestPtr &variant : places_at(child, target, below)) {
        std::vector<LoopNestPtr> children = nest->children;
        children[caller] = std::move(variant);
        results.push_back(editor_.with_children(*nest, std::move(children)));
    }
    return results;
}

bool ComputeAtMove::allows(const LoopNest &nest, const FuncNode &func, bool in_thread) const {
    if (nest.innermost) {
        return false;
    }
    if (nest.is_root()) {
        return func.needs_root() || options_.compute_root;
    }
    return in_thread ? options_.compute_at_thread : options_.compute_at_block;
}

bool ComputeAtMove::may_descend(const LoopNest &nest,
                                const LoopNest &caller,
                                const Place &place) const {
    if (nest.is_root()) {
        if (!options_.compute_at_block && !options_.compute_at_thread) {
            return false;
        }
        // Fusing into a launch of one task would serialise the whole Func. A root nest that has no
        // blocks cannot hold threads at all.
        const bool single_task = caller.iterations() == 1 && options_.parallelism > 1;
        return !single_task && caller.axis == GpuAxis::Block;
    }
    if (options_.one_level) {
        return false;
    }
    return !place.in_thread || options_.compute_at_thread;
}

void ComputeAtMove::place_here(const LoopNest &nest,
                               const Target &target,
                               const Place &place,
                               std::vector<LoopNestPtr> &results) const {
    if (nest.is_root()) {
        results.push_back(with_added(nest, root_nests_(target.func, target.vector_dim)));
        return;
    }
    std::vector<LoopNestPtr> placed =
        editor_.place(target.func, target.vector_dim, nest, place.in_thread);
    if (place.in_thread) {
        results.push_back(with_added(nest, std::move(placed)));
    } else {
        place_in_block(nest, placed, place.block_threads, results);
    }
}

void ComputeAtMove::place_in_block(const LoopNest &nest,
                                   const std::vector<LoopNestPtr> &placed,
                                   const Extents &block_threads,
                                   std::vector<LoopNestPtr> &results) const {
    ThreadTilingOptions tiling_options;
    tiling_options.serial_inner = true;
    const std::vector<Extents> tilings = thread_tilings(
        stage_extents(editor_.graph(), placed), block_threads, tiling_options, device_);

    if (tilings.empty()) {
        std::vector<LoopNestPtr> serial;
        for (const LoopNestPtr &stage : placed) {
            serial.push_back(editor_.with_axis(*stage, GpuAxis::Serial));
        }
        results.push_back(with_added(nest, std::move(serial)));
        return;
    }
    SplitOptions split;
    split.tile_is = TileIs::Outer;
    for (const Extents &threads : tilings) {
        std::vector<LoopNestPtr> tiled;
        for (const LoopNestPtr &stage : placed) {
            tiled.push_back(editor_.split(*stage, threads, nest, split));
        }
        results.push_back(with_added(nest, std::move(tiled)));
    }
}

LoopNestPtr ComputeAtMove::with_added(const LoopNest &nest, std::vector<LoopNestPtr> added) const {
    std::vector<LoopNestPtr> children = nest.children;
    for (LoopNestPtr &child : added) {
        children.push_back(std::move(child));
    }
    return editor_.with_children(nest, std::move(children));
}

}  // namespace anderson2021
