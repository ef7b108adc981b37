// recompute: no stage does many times the work that is needed.
//
// Points computed (at the compute site, over all realizations) plus calls where the Func is inlined
// may be at most ten times the points that have to be computed. Wrappers, and Funcs that are so
// cheap or so simply used that inlining is always worth a try, may be recomputed at will.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

constexpr double kMaxRecompute = 10;
constexpr const char *kName = "recompute";

class RecomputeRule : public FeaturePruner {
public:
    const char *name() const override { return kName; }

    std::optional<Rejection> reject(const LoopNest &,
                                    const FeatureMatrix &features,
                                    const PruneContext &context) const override {
        for (const FuncNode &f : context.graph.funcs) {
            if (is_exempt_from_recompute(f, context)) {
                continue;
            }
            for (const StageNode &stage : f.stages) {
                if (!features.has(stage.id)) {
                    continue;
                }
                const ScheduleFeatures &row = features.row(stage.id);
                const double work = row.points_computed_total + row.inlined_calls;
                if (const auto rejection = reject_recompute(work, row.points_computed_minimum)) {
                    return rejection;
                }
            }
        }
        return std::nullopt;
    }
};

}  // namespace

std::optional<Rejection> reject_recompute(double work, double needed) {
    const double limit = kMaxRecompute * needed;
    if (work > limit) {
        return Rejection{kName, work, limit};
    }
    return std::nullopt;
}

bool is_exempt_from_recompute(const FuncNode &func, const PruneContext &context) {
    return func.is_input || func.is_wrapper ||
           (context.always_consider_inline != nullptr &&
            context.always_consider_inline->contains(func.id));
}

std::unique_ptr<FeaturePruner> make_recompute_rule() {
    return std::make_unique<RecomputeRule>();
}

}  // namespace anderson2021
