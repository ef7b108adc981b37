// serial-extents: a thread computes few points of the pure stage of a Func in a row.
//
// The serial level around the innermost one is meant to be unrolled, so it may have as many points
// as that allows; serial levels further out may have some more. Update stages are not judged:
// their serial loops are mostly reductions, which nobody unrolls.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

// Points of a serial level that is not the innermost one.
constexpr int64_t kMaxOuterSerialPoints = 64;

class SerialExtentsRule : public StructuralPruner {
public:
    const char *name() const override { return "serial-extents"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        if (task.axis == GpuAxis::Serial && task.stage_index == 0) {
            const int64_t limit =
                is_above_leaf(task) ? context.device.unroll_limit : kMaxOuterSerialPoints;
            if (const auto rejection = reject_above(name(), pure_points(task, context), limit)) {
                return rejection;
            }
        }
        for (const LoopNestPtr &c : task.children) {
            if (const auto rejection = reject_task(*c, context)) {
                return rejection;
            }
        }
        return std::nullopt;
    }

private:
    static bool is_above_leaf(const LoopNest &nest) {
        for (const LoopNestPtr &c : nest.children) {
            if (c->stage_id == nest.stage_id) {
                return c->innermost;
            }
        }
        return false;
    }

    static int64_t pure_points(const LoopNest &nest, const PruneContext &context) {
        const StageNode &stage = context.graph.stage(nest.stage_id);
        int64_t points = 1;
        for (size_t i = 0; i < nest.size.size(); i++) {
            if (stage.loops[i].pure_dim >= 0) {
                points *= nest.size[i];
            }
        }
        return points;
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_serial_extents_rule() {
    return std::make_unique<SerialExtentsRule>();
}

}  // namespace anderson2021
