// From tiling levels to loops: which loop is split where, and which loop ends up at which level.
#pragma once

#include "lowering/stage_plan.h"
#include "lowering/tail_rules.h"

namespace anderson2021 {

/// Creates the loop variables of all levels of `plan`.
///
/// A pure Var is split wherever a level inside has more than one trip. Reductions are never split:
/// they go to the innermost level as they are, in their original order, since only that order is
/// sure to be legal.
void split_loops(StagePlan &plan, const TailRules &tails);

/// Unrolls the pure loops of the innermost level if all their trip counts are known and their
/// product is at most `unroll_limit`; they become the innermost loops. Less is unrolled where
/// enclosing loops are unrolled already, lest the code explode.
void unroll_innermost(StagePlan &plan, const TailRules &tails, int64_t unroll_limit);

}  // namespace anderson2021
