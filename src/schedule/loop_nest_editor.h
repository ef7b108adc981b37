// The only writer of schedule trees: places Funcs, splits levels, inlines, replaces children. Every
// function returns new nests and leaves its arguments alone.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Which half of a split gets the given tile sizes.
enum class TileIs { Inner, Outer };

struct SplitOptions {
    TileIs tile_is = TileIs::Inner;
    /// Shrink the other half to ceil(size / chosen) afterwards.
    bool adjust = false;
    /// Reductions go to the inner half (else to the outer one).
    bool reductions_inward = true;
};

class LoopNestEditor {
public:
    explicit LoopNestEditor(RegionStore &store) : store_(store), graph_(store.graph()) {}

    const PipelineGraph &graph() const { return graph_; }

    /// An empty root.
    LoopNestPtr make_root() const;
    /// Nests of all stages of `func` as placed at `site` (last stage first), each with its leaf
    ///. `in_thread` = site is a Thread level or inside one.
    std::vector<LoopNestPtr>
    place(int func, int vector_dim, const LoopNest &site, bool in_thread) const;
    /// Splits one level in two. `tile` has one entry per dimension of the Func.
    /// `parent` is the parent of `nest`.
    LoopNestPtr split(const LoopNest &nest,
                      const Extents &tile,
                      const LoopNest &parent,
                      const SplitOptions &options) const;
    /// Copy with other children.
    LoopNestPtr with_children(const LoopNest &nest, std::vector<LoopNestPtr> children) const;
    /// Copy with another axis label; children are kept.
    LoopNestPtr with_axis(const LoopNest &nest, GpuAxis axis) const;
    /// The tree with `func` inlined into every leaf that calls it; subtrees that do not call it are
    /// shared with the argument.
    LoopNestPtr inline_func(const LoopNestPtr &root, int func) const;

private:
    RegionStore &store_;
    const PipelineGraph &graph_;
};

}  // namespace anderson2021
