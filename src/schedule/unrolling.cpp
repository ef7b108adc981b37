#include "schedule/unrolling.h"

#include <algorithm>

namespace anderson2021 {

namespace {

int64_t count_calls(const StageNode &stage, const LoopNest &leaf, const PipelineGraph &graph) {
    int64_t calls = 0;
    for (const int e : stage.incoming_edges) {
        const Edge &edge = graph.edge(e);
        calls += leaf.num_inlined_calls(edge.producer) > 0 ? 0 : edge.calls;
    }
    return calls;
}

/// Reads of one point, those in the bodies of inlined Funcs included.
int64_t count_reads(const LoopNest &leaf, const PipelineGraph &graph) {
    int64_t reads = count_calls(graph.stage(leaf.stage_id), leaf, graph);
    for (const InlinedCall &c : leaf.inlined) {
        reads += c.calls * count_calls(graph.func(c.func).stages[0], leaf, graph);
    }
    return reads;
}

}  // namespace

BitSet unrolled_loops(const StageNode &stage, const LoopNest &above, const GpuDevice &device) {
    const Span *const spans = above.regions->of(stage.func).loops(stage.index);
    BitSet unrolled(static_cast<int>(stage.loops.size()));
    int64_t iterations = 1;
    for (size_t i = 0; i < stage.loops.size(); i++) {
        if (!stage.loops[i].rvar) {
            if (spans[i].constant) {
                unrolled.insert(static_cast<int>(i));
            }
            iterations *= spans[i].extent();
        }
    }
    return iterations > device.unroll_limit ? BitSet() : unrolled;
}

int64_t
reads_in_unknown_loops(const LoopNest &nest, const LoopNest &site, const PipelineGraph &graph) {
    if (nest.axis != GpuAxis::Thread) {
        return 0;
    }
    const StageNode &stage = graph.stage(nest.stage_id);
    const Span *const spans = site.regions->of(nest.func).loops(stage.index);
    int num_unknown = 0;
    for (size_t i = 0; i < stage.loops.size(); i++) {
        num_unknown += !stage.loops[i].rvar && !spans[i].exact && nest.size[i] > 1 ? 1 : 0;
    }
    if (num_unknown < 2) {
        return 0;
    }
    int64_t points = 1;
    const LoopNest *level = &nest;
    while (!level->innermost) {
        const auto next =
            std::find_if(level->children.begin(), level->children.end(), [&](const LoopNestPtr &c) {
                return c->stage_id == nest.stage_id;
            });
        if (next == level->children.end()) {
            return 0;
        }
        level = next->get();
        for (size_t i = 0; i < stage.loops.size(); i++) {
            points *= stage.loops[i].rvar ? 1 : level->size[i];
        }
    }
    return points > 1 ? points * count_reads(*level, graph) : 0;
}

}  // namespace anderson2021
