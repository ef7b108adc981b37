// unrolled-code: no block makes code that takes minutes to compile.
//
// Lowering does not unroll such code, so that it would not be what the features describe.
#include "pruning/rules.h"
#include "schedule/unrolling.h"

namespace anderson2021 {
namespace {

class UnrolledCodeRule : public StructuralPruner {
public:
    const char *name() const override { return "unrolled-code"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        if (context.following_outputs == nullptr || task.store_set().empty()) {
            return std::nullopt;
        }
        for (const LoopNestPtr &c : task.children) {
            if (c->func == task.func) {
                continue;
            }
            const int64_t reads = reads_in_unknown_loops(*c, task, context.graph);
            if (const auto rejection = reject_above(name(), reads, kMaxReadsInUnknownLoops)) {
                return rejection;
            }
        }
        return std::nullopt;
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_unrolled_code_rule() {
    return std::make_unique<UnrolledCodeRule>();
}

}  // namespace anderson2021
