// Inlining: when a Func may disappear into its callers, when that is the only sensible choice, and
// which Funcs are so cheap that recomputing them is never held against a schedule.
#pragma once

#include "algorithm/pipeline_graph.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// A single pure definition that is neither an output, an input nor extern.
bool can_inline(const FuncNode &func);

/// Once `func` was inlined legally, no other placement is worth a look: it is pointwise, has one
/// reader, and so are its neighbours (readers may also be boundary conditions).
bool inlining_dominates(const PipelineGraph &graph, const FuncNode &func);

/// A pointwise Func with one reader: inlining it is nearly always right, unless it is expensive and
/// the reader reads it often.
bool is_inlined_eagerly(const FuncNode &func);

/// Schedules that recompute `func` often are not dropped for that reason: Halide calls it trivial,
/// or it is pointwise and, looking through what `root` inlines, exactly one Func uses it.
bool is_always_considered_for_inlining(const PipelineGraph &graph,
                                       const LoopNest &root,
                                       const FuncNode &func);

}  // namespace anderson2021
