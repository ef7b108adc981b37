// The list of rules.
#include "pruning/rules.h"

namespace anderson2021 {
namespace {

template<typename T, typename... Rules>
std::vector<std::unique_ptr<T>> make_list(Rules... rules) {
    std::vector<std::unique_ptr<T>> list;
    (list.push_back(std::move(rules)), ...);
    return list;
}

}  // namespace

std::optional<Rejection> StructuralPruner::reject(const LoopNest &root,
                                                  const PruneContext &context) const {
    for (const LoopNestPtr &task : root.children) {
        if (std::optional<Rejection> rejection = reject_task(*task, context)) {
            return rejection;
        }
    }
    return std::nullopt;
}

std::optional<Rejection> reject_above(const char *rule, int64_t value, int64_t limit) {
    if (value <= limit) {
        return std::nullopt;
    }
    return Rejection{rule, static_cast<double>(value), static_cast<double>(limit)};
}

const std::vector<std::unique_ptr<StructuralPruner>> &structural_pruners() {
    // Those that look at sizes come before those that ask for regions. Inlined calls are
    // rarely the reason, and registers need the most work.
    static const auto list = make_list<StructuralPruner>(make_thread_extents_rule(),
                                                         make_grid_extents_rule(),
                                                         make_serial_extents_rule(),
                                                         make_shared_memory_rule(),
                                                         make_local_memory_constant_rule(),
                                                         make_local_memory_rule(),
                                                         make_unknown_sizes_rule(),
                                                         make_unrolled_code_rule(),
                                                         make_inlined_calls_rule(),
                                                         make_registers_rule());
    return list;
}

const std::vector<std::unique_ptr<FeaturePruner>> &feature_pruners() {
    static const auto list = make_list<FeaturePruner>(make_recompute_rule());
    return list;
}

}  // namespace anderson2021
