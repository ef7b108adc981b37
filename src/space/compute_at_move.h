// Giving a Func loops of its own: at the root, in a block, or inside a thread.
#pragma once

#include <functional>
#include <vector>

#include "device/gpu_device.h"
#include "schedule/loop_nest_editor.h"
#include "space/space_options.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// Nests of the Func as placed at the root: they are the same in every schedule, so the search
/// makes them once.
using RootNests = std::function<std::vector<LoopNestPtr>(int func, int vector_dim)>;

/// Proposes every place of one Func in a tree. A place deeper in the tree is looked at only if it
/// shrinks the region that has to be computed, and only along the single caller of each level.
class ComputeAtMove {
public:
    ComputeAtMove(const LoopNestEditor &editor,
                  const GpuDevice &device,
                  const SpaceOptions &options,
                  RootNests root_nests)
        : editor_(editor), device_(device), options_(options), root_nests_(std::move(root_nests)) {}

    /// Trees with `func` placed, the root placement first, then deeper and deeper ones. In a block
    /// there is one tree per legal thread tiling; elsewhere one per place. Safe from any thread.
    std::vector<LoopNestPtr> propose(const LoopNestPtr &root, int func, int vector_dim) const;

private:
    struct Target {
        int func;
        int vector_dim;
    };
    // Where the walk stands.
    struct Place {
        const LoopNest *parent = nullptr;
        bool in_thread = false;
        Extents block_threads;
    };

    std::vector<LoopNestPtr>
    places_at(const LoopNestPtr &nest, const Target &target, const Place &place) const;
    bool allows(const LoopNest &nest, const FuncNode &func, bool in_thread) const;
    bool may_descend(const LoopNest &nest, const LoopNest &caller, const Place &place) const;
    void place_here(const LoopNest &nest,
                    const Target &target,
                    const Place &place,
                    std::vector<LoopNestPtr> &results) const;
    void place_in_block(const LoopNest &nest,
                        const std::vector<LoopNestPtr> &placed,
                        const Extents &block_threads,
                        std::vector<LoopNestPtr> &results) const;
    LoopNestPtr with_added(const LoopNest &nest, std::vector<LoopNestPtr> added) const;

    const LoopNestEditor &editor_;
    const GpuDevice &device_;
    SpaceOptions options_;
    RootNests root_nests_;
};

}  // namespace anderson2021
