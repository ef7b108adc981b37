#include "schedule/unknown_sizes.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

namespace {

// How much larger than planned an array of variable size may turn out: twice the size in two
// dimensions.
constexpr int64_t kGrowth = 4;
// Blocks that start at so many successive points stand for all of them.
constexpr int64_t kPlaces = 16;

bool is_free_of_estimates(const LoopDim &loop) {
    switch (loop.source) {
    case LoopDim::Source::ComputedDim:
        return true;
    case LoopDim::Source::Constant:
        return loop.constant_span.exact;
    case LoopDim::Source::Expression:
        return loop.min_expr.exact && loop.max_expr.exact;
    }
    return false;
}

bool is_free_of_estimates(const Edge &edge) {
    return std::all_of(edge.bounds.begin(), edge.bounds.end(), [](const EdgeBound &b) {
        return b.min.exact && b.max.exact;
    });
}

bool is_free_of_estimates(const ComputedDim &dim) {
    return dim.kind != ComputedDim::Kind::Expression || (dim.min_expr.exact && dim.max_expr.exact);
}

template<typename T>
bool all_free_of_estimates(const std::vector<T> &items) {
    return std::all_of(
        items.begin(), items.end(), [](const T &item) { return is_free_of_estimates(item); });
}

/// Without pure loops everything in a task runs in a single thread.
bool is_single_thread(const PipelineGraph &graph, const LoopNest &task) {
    const std::vector<LoopDim> &loops = graph.stage(task.stage_id).loops;
    return std::all_of(loops.begin(), loops.end(), [](const LoopDim &d) { return d.rvar; });
}

/// A Func in shared memory.
struct BlockFunc {
    int func = -1;
    const LoopNest *site = nullptr;
    bool exact = false;
    /// Planned, and of the block that needs most.
    int64_t bytes = 0;
    int64_t largest_bytes = 0;
};

/// Finds the Funcs that a task keeps in its threads and in its block.
class TaskWalk {
public:
    explicit TaskWalk(const PipelineGraph &graph) : graph_(graph) {}

    void run(const LoopNest &task) { visit(task, is_single_thread(graph_, task)); }

    /// Of unknown size, in threads.
    std::vector<MisplacedFunc> inexact_in_thread;
    std::vector<BlockFunc> in_block;

private:
    void visit(const LoopNest &nest, bool in_thread) {
        in_thread = in_thread || nest.axis == GpuAxis::Thread;
        for (const int f : nest.store_set()) {
            const bool exact = has_exact_size(graph_.func(f), nest);
            const int64_t bytes = nest.regions->of(f).bytes_computed();
            if (!in_thread) {
                in_block.push_back({f, &nest, exact, bytes, bytes});
            } else if (!exact) {
                inexact_in_thread.push_back({f, bytes, 0});
            }
        }
        for (const LoopNestPtr &c : nest.children) {
            if (!c->innermost && !c->stored_below().empty()) {
                visit(*c, in_thread);
            }
        }
    }

    const PipelineGraph &graph_;
};

/// What a block stores of a Func depends on where in the image it is if coordinates are divided:
/// looks at neighbouring places.
void find_largest_bytes(std::vector<BlockFunc> &funcs, const PipelineGraph &graph) {
    for (BlockFunc &f : funcs) {
        if (f.exact) {
            continue;
        }
        const FuncNode &func = graph.func(f.func);
        Extents extents(static_cast<size_t>(func.dims()), 1);
        for (int64_t shift = 0; shift < kPlaces; shift++) {
            FuncRegion own = f.site->regions->own();
            const StageNode &stage = graph.stage(f.site->stage_id);
            for (size_t i = 0; i < stage.loops.size(); i++) {
                Span &span = own.loop(stage.index, static_cast<int>(i));
                span.min += stage.loops[i].rvar ? 0 : shift;
                span.max += stage.loops[i].rvar ? 0 : shift;
            }
            const NestRegions there(graph, f.site->stage_id, std::move(own));
            for (int d = 0; d < func.dims(); d++) {
                int64_t &extent = extents[static_cast<size_t>(d)];
                extent = std::max(extent, there.of(f.func).computed(d).extent());
            }
        }
        f.largest_bytes = func.bytes_per_point;
        for (const int64_t extent : extents) {
            f.largest_bytes *= extent;
        }
    }
}

int64_t sum_of_bytes(const std::vector<BlockFunc> &funcs) {
    int64_t bytes = 0;
    for (const BlockFunc &f : funcs) {
        bytes += f.largest_bytes;
    }
    return bytes;
}

}  // namespace

bool has_exact_size(const FuncNode &func, const LoopNest &site) {
    const FuncRegion &region = site.regions->of(func.id);
    for (int d = 0; d < func.dims(); d++) {
        if (!region.computed(d).exact) {
            return false;
        }
    }
    return true;
}

BitSet find_funcs_following_outputs(const PipelineGraph &graph) {
    BitSet found(graph.num_funcs());
    // Consumers come first.
    for (const FuncNode &f : graph.funcs) {
        bool follows = all_free_of_estimates(f.computed);
        for (const StageNode &s : f.stages) {
            follows = follows && all_free_of_estimates(s.loops);
        }
        for (const int e : f.outgoing_edges) {
            const Edge &edge = graph.edge(e);
            follows = follows && is_free_of_estimates(edge) && found.contains(edge.consumer_func);
        }
        if (follows) {
            found.insert(f.id);
        }
    }
    return found;
}

int64_t largest_shared_bytes(const LoopNest &task, const PipelineGraph &graph) {
    TaskWalk walk(graph);
    walk.run(task);
    find_largest_bytes(walk.in_block, graph);
    return sum_of_bytes(walk.in_block);
}

std::vector<MisplacedFunc> find_misplaced_funcs(const LoopNest &task,
                                                const PipelineGraph &graph,
                                                const GpuDevice &device,
                                                const BitSet &following_outputs) {
    TaskWalk walk(graph);
    walk.run(task);
    std::vector<MisplacedFunc> misplaced = std::move(walk.inexact_in_thread);
    std::vector<BlockFunc> &funcs = walk.in_block;
    const int64_t limit = device.shared_bytes_per_block;
    if (sum_of_bytes(funcs) * kGrowth > limit) {
        find_largest_bytes(funcs, graph);
    }
    const int64_t bytes = sum_of_bytes(funcs);
    for (const BlockFunc &f : funcs) {
        const bool varies = !f.exact && !following_outputs.contains(f.func);
        const int64_t needed = bytes + (varies ? (kGrowth - 1) * f.largest_bytes : 0);
        if (needed > limit && (varies || f.largest_bytes > f.bytes)) {
            misplaced.push_back({f.func, needed, limit});
        }
    }
    return misplaced;
}

}  // namespace anderson2021
