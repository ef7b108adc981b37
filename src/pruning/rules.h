// The rules, one factory each; what a rule demands is described in its file.
#pragma once

#include <memory>

#include "pruning/pruner.h"

namespace anderson2021 {

std::unique_ptr<StructuralPruner> make_thread_extents_rule();
std::unique_ptr<StructuralPruner> make_grid_extents_rule();
std::unique_ptr<StructuralPruner> make_shared_memory_rule();
std::unique_ptr<StructuralPruner> make_local_memory_constant_rule();
std::unique_ptr<StructuralPruner> make_local_memory_rule();
std::unique_ptr<StructuralPruner> make_serial_extents_rule();
std::unique_ptr<StructuralPruner> make_inlined_calls_rule();
std::unique_ptr<StructuralPruner> make_unknown_sizes_rule();
std::unique_ptr<StructuralPruner> make_unrolled_code_rule();
std::unique_ptr<StructuralPruner> make_registers_rule();
std::unique_ptr<FeaturePruner> make_recompute_rule();

/// A rejection if `value` exceeds `limit`.
std::optional<Rejection> reject_above(const char *rule, int64_t value, int64_t limit);

}  // namespace anderson2021
