#include "schedule/loop_nest_editor.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace anderson2021 {

namespace {

int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

struct SplitSizes {
    Extents inner, outer;
};

SplitSizes split_sizes(const StageNode &stage,
                       const Extents &size,
                       const Extents &tile,
                       const SplitOptions &options) {
    SplitSizes s{size, size};
    for (size_t i = 0; i < size.size(); i++) {
        int64_t &inner = s.inner[i];
        int64_t &outer = s.outer[i];
        const int dim = stage.loops[i].pure_dim;
        if (dim < 0) {
            (options.reductions_inward ? outer : inner) = 1;
        } else if (options.tile_is == TileIs::Inner) {
            inner = tile[static_cast<size_t>(dim)];
            outer = ceil_div(size[i], inner);
        } else {
            outer = tile[static_cast<size_t>(dim)];
            inner = ceil_div(size[i], outer);
        }
        if (options.adjust && options.tile_is == TileIs::Inner) {
            inner = ceil_div(size[i], outer);
        } else if (options.adjust) {
            outer = ceil_div(size[i], inner);
        }
    }
    return s;
}

struct SplitAxes {
    GpuAxis outer, inner;
};

SplitAxes split_axes(GpuAxis axis, const std::string &stage) {
    switch (axis) {
    case GpuAxis::None:
        return {GpuAxis::Parallelized, GpuAxis::Serial};
    case GpuAxis::Parallelized:
        return {GpuAxis::Block, GpuAxis::Thread};
    case GpuAxis::Thread:
        return {GpuAxis::Thread, GpuAxis::Serial};
    case GpuAxis::Serial:
        return {GpuAxis::Serial, GpuAxis::Serial};
    case GpuAxis::Block:
    case GpuAxis::Simd:
        break;
    }
    ANDERSON_CHECK(false) << "A " << gpu_axis_name(axis) << " level of " << stage
                          << " cannot be split";
    return {axis, axis};
}

bool is_parallel(GpuAxis axis) {
    return axis == GpuAxis::Parallelized || axis == GpuAxis::Block;
}

/// Multiplies `sizes` by those of all levels of the same stage below `nest`.
void multiply_by_levels_below(const LoopNest &nest, Extents &sizes) {
    for (const LoopNestPtr &c : nest.children) {
        if (c->stage_id == nest.stage_id) {
            for (size_t i = 0; i < sizes.size(); i++) {
                sizes[i] *= c->size[i];
            }
            multiply_by_levels_below(*c, sizes);
            return;
        }
    }
}

}  // namespace

LoopNestPtr LoopNestEditor::make_root() const {
    LoopNestData data;
    data.regions = store_.root();
    return LoopNest::publish(graph_, std::move(data));
}

std::vector<LoopNestPtr>
LoopNestEditor::place(int func, int vector_dim, const LoopNest &site, bool in_thread) const {
    const FuncNode &node = graph_.func(func);
    const FuncRegion &region = site.regions->of(func);
    std::vector<LoopNestPtr> result;
    for (auto stage = node.stages.rbegin(); stage != node.stages.rend(); ++stage) {
        LoopNestData data;
        data.func = func;
        data.stage_index = stage->index;
        data.stage_id = stage->id;
        data.vector_dim = vector_dim;
        data.axis = site.is_root() ? GpuAxis::None : in_thread ? GpuAxis::Serial : GpuAxis::Thread;
        FuncRegion own = region;
        for (size_t i = 0; i < stage->loops.size(); i++) {
            Span &span = own.loop(stage->index, static_cast<int>(i));
            // An empty reduction domain still counts as one iteration.
            data.size.push_back(std::max<int64_t>(span.extent(), 1));
            span = Span::point(span.min + data.size.back() / 2);
            const int dim = stage->loops[i].pure_dim;
            if (dim >= 0 && dim == vector_dim) {
                data.lane_loop = static_cast<int>(i);
            }
        }
        data.regions = store_.at(stage->id, std::move(own));
        LoopNestData leaf = data;
        leaf.innermost = true;
        leaf.axis = GpuAxis::Simd;
        std::fill(leaf.size.begin(), leaf.size.end(), 1);
        data.children.push_back(LoopNest::publish(graph_, std::move(leaf)));
        result.push_back(LoopNest::publish(graph_, std::move(data)));
    }
    return result;
}

LoopNestPtr LoopNestEditor::split(const LoopNest &nest,
                                  const Extents &tile,
                                  const LoopNest &parent,
                                  const SplitOptions &options) const {
    const StageNode &stage = graph_.stage(nest.stage_id);
    ANDERSON_CHECK(static_cast<int>(tile.size()) == graph_.func(nest.func).dims())
        << "A tile of " << tile.size() << " dimensions for " << stage.name;
    SplitSizes sizes = split_sizes(stage, nest.size, tile, options);
    const SplitAxes axes = split_axes(nest.axis, stage.name);

    LoopNestData inner = nest;
    inner.size = std::move(sizes.inner);
    inner.axis = axes.inner;
    inner.parallel = is_parallel(axes.inner);

    LoopNestData outer;
    outer.func = nest.func;
    outer.stage_index = nest.stage_index;
    outer.stage_id = nest.stage_id;
    outer.size = std::move(sizes.outer);
    outer.axis = axes.outer;
    outer.parallel = is_parallel(axes.outer);
    outer.vector_dim = nest.vector_dim;
    outer.lane_loop = nest.lane_loop;

    // One iteration of the outer level does a whole inner tile; the middle one stands for all.
    Extents width = inner.size;
    multiply_by_levels_below(nest, width);
    FuncRegion own = nest.regions->own();
    const Span *const whole = parent.regions->of(nest.func).loops(nest.stage_index);
    for (size_t i = 0; i < width.size(); i++) {
        const int64_t start = whole[i].min + (outer.size[i] / 2) * width[i];
        const bool pure = stage.loops[i].pure;
        own.loop(nest.stage_index, static_cast<int>(i)) = {
            start, start + width[i] - 1, whole[i].constant || pure, whole[i].exact || pure};
    }
    outer.regions = store_.at(nest.stage_id, std::move(own));
    outer.children.push_back(LoopNest::publish(graph_, std::move(inner)));
    return LoopNest::publish(graph_, std::move(outer));
}

LoopNestPtr LoopNestEditor::with_children(const LoopNest &nest,
                                          std::vector<LoopNestPtr> children) const {
    LoopNestData data = nest;
    data.children = std::move(children);
    return LoopNest::publish(graph_, std::move(data));
}

LoopNestPtr LoopNestEditor::with_axis(const LoopNest &nest, GpuAxis axis) const {
    LoopNestData data = nest;
    data.axis = axis;
    data.parallel = is_parallel(axis);
    return LoopNest::publish(graph_, std::move(data));
}

LoopNestPtr LoopNestEditor::inline_func(const LoopNestPtr &root, int func) const {
    if (!root->calls(func) || root->num_inlined_calls(func) > 0) {
        return root;
    }
    LoopNestData data = *root;
    if (root->innermost) {
        int64_t calls = 0;
        for (const int id : graph_.func(func).outgoing_edges) {
            const Edge &edge = graph_.edge(id);
            calls += edge.calls * root->num_inlined_calls(edge.consumer_func);
            if (edge.consumer_stage == root->stage_id) {
                calls += edge.calls;
            }
        }
        if (calls == 0) {
            return root;
        }
        data.inlined.push_back({func, calls});
    }
    for (LoopNestPtr &c : data.children) {
        c = inline_func(c, func);
    }
    return LoopNest::publish(graph_, std::move(data));
}

}  // namespace anderson2021
