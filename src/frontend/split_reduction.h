// Makes a reduction of partial results, by the compiler's rfactor, in the functions themselves.
#pragma once

#include "Halide.h"

#include "algorithm/reduction_split.h"

namespace anderson2021 {

/// Which parts of a reduction may be computed by themselves.
enum class ReductionOrder {
    /// None: not associative as far as the compiler can tell, or the domain depends on the result.
    Fixed,
    /// Runs of successive iterations.
    Runs,
    /// Any.
    Free,
};

/// What a split of update `update` has to heed so that integers stay the same, bit by bit. Sums in
/// floating point count as associative unless the target says strict_float.
ReductionOrder
reduction_order(const Halide::Internal::Function &f, int update, const Halide::Target &target);

/// Chooses names for `split`, whose loops have nothing but `var`, `factor` and `in_runs` yet, and
/// finds their positions.
void complete_split(const Halide::Internal::Function &f, ReductionSplit &split);

/// Carries out a complete split. Returns the Func of partial results. Throws what the compiler
/// throws if it refuses; `f` may have changed then.
Halide::Internal::Function carry_out_split(const Halide::Internal::Function &f,
                                           const ReductionSplit &split);

}  // namespace anderson2021
