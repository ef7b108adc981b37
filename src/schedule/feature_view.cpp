#include "schedule/feature_view.h"

#include <algorithm>

namespace anderson2021 {

namespace {

// Threads per block along the lane loop of an untiled root nest.
constexpr int64_t kLanes = 32;

/// Some way down from `nest` to a leaf meets no Thread level.
bool has_threadless_path(const LoopNest &nest) {
    if (nest.axis == GpuAxis::Thread) {
        return false;
    }
    return nest.children.empty() ||
           std::any_of(nest.children.begin(), nest.children.end(), [](const LoopNestPtr &c) {
               return has_threadless_path(*c);
           });
}

class Completer {
public:
    explicit Completer(const LoopNestEditor &editor) : editor_(editor), graph_(editor.graph()) {}

    /// A child of the root, completed.
    LoopNestPtr complete(const LoopNestPtr &child, const LoopNest &root) const {
        if (child->axis == GpuAxis::None && !child->size.empty()) {
            return tile(*serialize_threads(child), root);
        }
        if (child->axis == GpuAxis::Block && has_threadless_path(*child)) {
            return add_threads(child);
        }
        return child;
    }

private:
    /// `nest` inside a Block (or the Block itself) with a Thread level of extent 1 around every
    /// level that needs one. A Serial level needs it for all its children or for none; in the
    /// latter case its own parent takes care of it.
    LoopNestPtr add_threads(const LoopNestPtr &nest) const {
        if (nest->axis == GpuAxis::Thread || nest->children.empty()) {
            return nest;
        }
        std::vector<LoopNestPtr> children;
        bool changed = false;
        for (const LoopNestPtr &c : nest->children) {
            children.push_back(add_threads(c));
            changed = changed || children.back() != c;
        }
        const bool wraps = nest->axis == GpuAxis::Block ||
                           (nest->axis == GpuAxis::Serial &&
                            std::any_of(children.begin(), children.end(), [](const LoopNestPtr &c) {
                                return c->has_thread_level();
                            }));
        if (wraps) {
            for (LoopNestPtr &c : children) {
                if (!c->has_thread_level()) {
                    c = wrap_in_thread(*c, *nest);
                    changed = true;
                }
            }
        }
        return changed ? editor_.with_children(*nest, std::move(children)) : nest;
    }

    LoopNestPtr wrap_in_thread(const LoopNest &nest, const LoopNest &parent) const {
        SplitOptions options;
        options.tile_is = TileIs::Outer;
        options.adjust = true;
        const Extents ones(static_cast<size_t>(graph_.func(nest.func).dims()), 1);
        return editor_.split(*editor_.with_axis(nest, GpuAxis::Thread), ones, parent, options);
    }

    /// Block / Thread / Serial for an untiled nest of the root: one warp per block, one point per
    /// thread, reductions in the serial part.
    LoopNestPtr tile(const LoopNest &nest, const LoopNest &root) const {
        const StageNode &stage = graph_.stage(nest.stage_id);
        Extents points(static_cast<size_t>(graph_.func(nest.func).dims()), 1);
        Extents lanes = points;
        SplitOptions options;
        if (nest.stage_index > 0) {
            options.tile_is = TileIs::Outer;
            options.adjust = true;
            for (size_t i = 0; i < nest.size.size(); i++) {
                if (stage.loops[i].pure_dim >= 0) {
                    points[static_cast<size_t>(stage.loops[i].pure_dim)] = nest.size[i];
                }
            }
        }
        if (nest.lane_loop >= 0) {
            lanes[static_cast<size_t>(nest.vector_dim)] =
                std::min(kLanes, nest.size[static_cast<size_t>(nest.lane_loop)]);
        }
        const LoopNestPtr parallelized = editor_.split(nest, points, root, options);
        return editor_.split(*parallelized, lanes, root, SplitOptions());
    }

    /// What is fused into an untiled nest runs in the single thread that the nest becomes, so
    /// there is no room for thread levels inside.
    LoopNestPtr serialize_threads(const LoopNestPtr &nest) const {
        if (!nest->has_thread_level()) {
            return nest;
        }
        std::vector<LoopNestPtr> children;
        for (const LoopNestPtr &c : nest->children) {
            children.push_back(serialize_threads(c));
        }
        const LoopNestPtr copy = editor_.with_children(*nest, std::move(children));
        return copy->axis == GpuAxis::Thread ? editor_.with_axis(*copy, GpuAxis::Serial) : copy;
    }

    const LoopNestEditor &editor_;
    const PipelineGraph &graph_;
};

}  // namespace

LoopNestPtr make_feature_view(const LoopNestPtr &root, const LoopNestEditor &editor) {
    const Completer completer(editor);
    std::vector<LoopNestPtr> children;
    bool changed = false;
    for (const LoopNestPtr &c : root->children) {
        children.push_back(completer.complete(c, *root));
        changed = changed || children.back() != c;
    }
    return changed ? editor.with_children(*root, std::move(children)) : root;
}

LoopNestPtr
complete_block(const LoopNestPtr &child, const LoopNest &root, const LoopNestEditor &editor) {
    return Completer(editor).complete(child, root);
}

}  // namespace anderson2021
