// A child of the root is a task: it becomes one kernel launch.
#include <algorithm>

#include "featurizer/groups/extents.h"
#include "featurizer/groups/groups.h"

namespace anderson2021 {

namespace {

using StageStack = SmallVector<const StageNode *, 16>;

/// Number of blocks that share dimension `dim` of the stage's Func.
int64_t blocks_along(const LoopContext &at, int dim) {
    for (size_t i = 0; i < at.stage.loops.size(); i++) {
        if (at.stage.loops[i].pure_dim == dim) {
            return at.nest.size[i];
        }
    }
    return 1;
}

/// The part of the stage's Func that one block computes.
void add_own_bytes(const LoopContext &at, ScheduleFeatures &f) {
    const auto bytes_per_point = static_cast<double>(at.func.bytes_per_point);
    double bytes = 0;
    double innermost = 0;
    if (at.nest.parallel) {
        const FuncRegion &region = at.own_region(at.nest);
        bytes = innermost = bytes_per_point;
        for (int d = 0; d < at.func.dims(); d++) {
            // Compat: rounds down, although tiles are rounded up.
            const int64_t extent = region.computed(d).extent() / blocks_along(at, d);
            bytes *= static_cast<double>(extent);
            if (d == at.nest.vector_dim) {
                innermost *= static_cast<double>(extent);
            }
        }
    } else {
        // Compat: meant as a division that rounds up, but not rounded.
        bytes = (f.bytes_at_realization + at.env.parallelism - 1) / at.env.parallelism;
        innermost = std::min(bytes, f.innermost_bytes_at_realization);
    }
    const MemoryType memory = at.env.site_of_func(at.func.id).memory;
    kBytesAtTask.set(f, memory, bytes);
    kInnermostBytesAtTask.set(f, memory, innermost);
}

/// Bytes and lines of a Func stored at the root that one iteration of the task requires.
void add_bytes_read(const LoopContext &at, int producer, ScheduleFeatures &f) {
    const FuncRegion &region = at.nest.regions->of(producer);
    const FuncNode &func = region.func();
    const Site &site = at.env.site_of_func(producer);
    int dense = -1;
    double longest = 1;
    if (func.is_input) {
        dense = 0;
    } else if (site.scheduled) {
        dense = site.produce->vector_dim;
    } else {
        // Not placed yet: assume that it will be stored along its longest side.
        for (int d = 0; d < func.dims(); d++) {
            longest = std::max(longest, static_cast<double>(region.required(d).extent()));
        }
    }
    double lines = 1;
    for (int d = 0; d < func.dims(); d++) {
        if (d != dense) {
            lines *= static_cast<double>(region.required(d).extent());
        }
    }
    f.unique_bytes_read_per_task +=
        static_cast<double>(func.bytes_per_point) * points_required(region);
    f.unique_lines_read_per_task += lines / longest;
}

/// What a stage reads, seen from the task: from the root, or from inside the task and then also
/// what that reads, for which its stages are added to `stages`.
void add_producers(const LoopContext &at,
                   const StageNode &stage,
                   BitSet &seen,
                   StageStack &stages,
                   ScheduleFeatures &f) {
    const PipelineGraph &graph = at.env.graph;
    for (const int id : stage.incoming_edges) {
        const int producer = graph.edge(id).producer;
        if (seen.contains(producer)) {
            continue;
        }
        seen.insert(producer);
        const Site &site = at.env.site_of_func(producer);
        if (site.is_stored_at_root()) {
            add_bytes_read(at, producer, f);
        } else if (site.produce != nullptr) {
            for (const StageNode &s : graph.func(producer).stages) {
                stages.push_back(&s);
            }
        }
    }
}

}  // namespace

void add_task(const LoopContext &at, ScheduleFeatures &f) {
    add_own_bytes(at, f);

    // Through everything that is computed or inlined inside the task, to what is stored at the
    // root.
    StageStack stages{&at.stage};
    BitSet seen(at.env.graph.num_funcs());
    while (!stages.empty()) {
        const StageNode &stage = *stages.back();
        stages.pop_back();
        add_producers(at, stage, seen, stages, f);
    }
}

}  // namespace anderson2021
