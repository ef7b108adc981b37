#include "schedule/unrolling.h"

namespace anderson2021 {

std::vector<bool>
unrolled_loops(const StageNode &stage, const LoopNest &above, const GpuDevice &device) {
    const Span *const spans = above.regions->of(stage.func).loops(stage.index);
    std::vector<bool> unrolled(stage.loops.size(), false);
    int64_t iterations = 1;
    for (size_t i = 0; i < stage.loops.size(); i++) {
        if (!stage.loops[i].rvar) {
            unrolled[i] = spans[i].constant;
            iterations *= spans[i].extent();
        }
    }
    if (iterations > device.unroll_limit) {
        unrolled.assign(unrolled.size(), false);
    }
    return unrolled;
}

}  // namespace anderson2021
