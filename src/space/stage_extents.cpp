#include "space/stage_extents.h"

namespace anderson2021 {

StageExtents stage_extents(const PipelineGraph &graph, const LoopNest &nest) {
    StageExtents extents;
    extents.size = nest.size;
    extents.lane_loop = nest.lane_loop;
    for (const LoopDim &loop : graph.stage(nest.stage_id).loops) {
        extents.pure_dim.push_back(loop.pure_dim);
    }
    return extents;
}

std::vector<StageExtents> stage_extents(const PipelineGraph &graph,
                                        const std::vector<LoopNestPtr> &nests) {
    std::vector<StageExtents> all;
    for (auto nest = nests.rbegin(); nest != nests.rend(); ++nest) {
        all.push_back(stage_extents(graph, **nest));
    }
    return all;
}

}  // namespace anderson2021
