#include "space/root_tilings.h"

#include <algorithm>
#include <utility>

#include "space/stage_extents.h"
#include "tiling/serial_tilings.h"

namespace anderson2021 {

namespace {

int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

// Extents of the pure stage by dimension of the Func, whatever the order of its loops.
Extents extents_by_dim(const StageExtents &pure, int dims) {
    Extents extents(static_cast<size_t>(dims), 1);
    for (size_t i = 0; i < pure.size.size(); i++) {
        if (pure.pure_dim[i] >= 0) {
            extents[static_cast<size_t>(pure.pure_dim[i])] = pure.size[i];
        }
    }
    return extents;
}

// Odd factors pay only if they leave whole warps.
SerialTilingOptions serial_options(int64_t lane_extent, int warp_size) {
    SerialTilingOptions options;
    if (lane_extent % warp_size == 0) {
        for (const int64_t factor : {3, 5, 7}) {
            if ((lane_extent / warp_size) % factor == 0) {
                options.extra_lane_sizes.push_back(factor);
            }
        }
    }
    return options;
}

// Trip counts of every stage once the serial loops are split off and reductions moved inward.
std::vector<StageExtents> outer_extents(std::vector<StageExtents> stages, const Extents &outer) {
    for (StageExtents &stage : stages) {
        for (size_t i = 0; i < stage.size.size(); i++) {
            const int dim = stage.pure_dim[i];
            if (dim < 0) {
                stage.size[i] = 1;
            } else {
                const int64_t inner = ceil_div(stage.size[i], outer[static_cast<size_t>(dim)]);
                stage.size[i] = ceil_div(stage.size[i], inner);
            }
        }
    }
    return stages;
}

}  // namespace

std::vector<RootTiling> root_tilings(const PipelineGraph &graph,
                                     const std::vector<LoopNestPtr> &nests,
                                     int parallelism,
                                     const GpuDevice &device) {
    const std::vector<StageExtents> full = stage_extents(graph, nests);
    const LoopNest &pure = *nests.back();
    const Extents extents = extents_by_dim(full[0], graph.func(pure.func).dims());
    const int lane = pure.lane_loop < 0 ? -1 : pure.vector_dim;
    const int64_t lane_extent = lane < 0 ? 1 : extents[static_cast<size_t>(lane)];

    ThreadTilingOptions thread_options;
    thread_options.root_stage = true;
    std::vector<RootTiling> result;
    int group = 0;
    for (const Extents &outer :
         serial_tilings(extents, lane, serial_options(lane_extent, device.warp_size))) {
        const std::vector<StageExtents> stages = outer_extents(full, outer);
        const Extents pure_outer = extents_by_dim(stages[0], static_cast<int>(extents.size()));
        int64_t serial_points = 1;
        for (size_t d = 0; d < extents.size(); d++) {
            serial_points *= ceil_div(extents[d], outer[d]);
        }
        const std::vector<Extents> threads =
            thread_tilings(stages, {1, 1, 1}, thread_options, device);
        for (RankedTiling &ranked : rank_root_tilings(threads, full, pure_outer, parallelism)) {
            result.push_back(
                {outer, std::move(ranked.threads), ranked.idle_core_waste, group, serial_points});
        }
        group++;
    }
    return result;
}

std::vector<LoopNestPtr> build_root_tiling(const LoopNestEditor &editor,
                                           const std::vector<LoopNestPtr> &nests,
                                           const LoopNest &root,
                                           const RootTiling &tiling) {
    SplitOptions serial;
    serial.tile_is = TileIs::Outer;
    serial.adjust = true;
    SplitOptions threads;
    threads.tile_is = TileIs::Inner;
    std::vector<LoopNestPtr> result;
    for (const LoopNestPtr &nest : nests) {
        const LoopNestPtr parallel = editor.split(*nest, tiling.outer, root, serial);
        result.push_back(editor.split(*parallel, tiling.threads, root, threads));
    }
    return result;
}

}  // namespace anderson2021
