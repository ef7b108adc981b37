// unknown-sizes: every Func stays where it is computed, whatever the sizes at run time.
//
// What a kernel keeps of a Func may depend on parameters or on the sizes of inputs. Lowering moves
// a Func to the root if that may become too much for a block, or at all in a thread. Then the
// program is another one than the features describe.
#include "schedule/unknown_sizes.h"

#include "pruning/rules.h"

namespace anderson2021 {
namespace {

class UnknownSizesRule : public StructuralPruner {
public:
    const char *name() const override { return "unknown-sizes"; }

    std::optional<Rejection> reject_task(const LoopNest &task,
                                         const PruneContext &context) const override {
        if (context.following_outputs == nullptr || task.stored_below().empty()) {
            return std::nullopt;
        }
        const std::vector<MisplacedFunc> found =
            find_misplaced_funcs(task, context.graph, context.device, *context.following_outputs);
        if (found.empty()) {
            return std::nullopt;
        }
        return Rejection{
            name(), static_cast<double>(found[0].bytes), static_cast<double>(found[0].limit)};
    }
};

}  // namespace

std::unique_ptr<StructuralPruner> make_unknown_sizes_rule() {
    return std::make_unique<UnknownSizesRule>();
}

}  // namespace anderson2021
