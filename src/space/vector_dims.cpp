#include "space/vector_dims.h"

namespace anderson2021 {

namespace {

// Half a warp: fewer lanes waste too much.
constexpr int64_t kMinLaneExtent = 16;

}  // namespace

std::vector<int> candidate_vector_dims(const NestRegions &root, const FuncNode &func, bool all) {
    std::vector<int> dims;
    if (!func.is_output) {
        const FuncRegion &region = root.of(func.id);
        for (int d = 0; d < func.dims() && (all || dims.empty()); d++) {
            if (region.computed(d).extent() >= kMinLaneExtent) {
                dims.push_back(d);
            }
        }
    }
    if (dims.empty()) {
        dims.push_back(0);
    }
    return dims;
}

}  // namespace anderson2021
