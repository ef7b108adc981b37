// registers: a thread needs no more registers than the user wants, by the estimate.
//
// Not a limit of the device: values that do not fit are kept in memory, which costs time, but gives
// the same results; and the estimate errs on the side of caution. So the rule is off unless asked
// for.
#include "pruning/register_pressure.h"
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

class RegistersRule : public StructuralPruner {
public:
    const char *name() const override { return "registers"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        if (context.register_limit == 0) {
            return std::nullopt;
        }
        return reject_above(
            name(), registers_needed(task, context.graph, context.device), context.register_limit);
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_registers_rule() {
    return std::make_unique<RegistersRule>();
}

}  // namespace anderson2021
