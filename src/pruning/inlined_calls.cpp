// inlined-calls: no Func is inlined into one leaf so often that the code explodes.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

// Most copies of one Func's body per point of a leaf.
constexpr int64_t kMaxInlinedCalls = 255;

class InlinedCallsRule : public StructuralPruner {
public:
    const char *name() const override { return "inlined-calls"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        for (const InlinedCall &c : task.inlined) {
            if (const auto rejection = reject_above(name(), c.calls, kMaxInlinedCalls)) {
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
};

}  // namespace

std::unique_ptr<StructuralPruner> make_inlined_calls_rule() {
    return std::make_unique<InlinedCallsRule>();
}

}  // namespace anderson2021
