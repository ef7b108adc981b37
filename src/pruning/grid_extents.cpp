// grid-extents: a kernel has no more blocks than can be launched, by estimated sizes.
//
// The y and z limits of the grid are small, but lowering may fuse any block loops into grid x. So
// it finds a legal grid whenever the blocks altogether fit into x, and a schedule with more blocks
// than that is far from good anyway.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

class GridExtentsRule : public StructuralPruner {
public:
    const char *name() const override { return "grid-extents"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        if (task.axis != GpuAxis::Block) {
            return std::nullopt;
        }
        return reject_above(name(), task.iterations(), context.device.max_grid_extent[0]);
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_grid_extents_rule() {
    return std::make_unique<GridExtentsRule>();
}

}  // namespace anderson2021
