// The feature groups. Each function computes related columns of one stage at one nest and writes
// nothing else; the walk (block_features.cpp) decides at which nests they run.
#pragma once

#include "features/schedule_features.h"
#include "featurizer/loop_context.h"

namespace anderson2021 {

/// Storage of the Func, at the stage's outermost nest: realizations, points, bytes, scalars, and
/// bytes by memory class unless the Func is stored at the root (then the task decides).
void add_realization(const LoopContext &at, ScheduleFeatures &f);

/// Production, at the stage's outermost nest: productions, parallelism, bytes; and the sizes of the
/// whole Func.
void add_production(const LoopContext &at, ScheduleFeatures &f);

/// At a child of the root: the stage's own bytes per task and what one task reads.
void add_task(const LoopContext &at, ScheduleFeatures &f);

/// At every nest but the leaf; deeper ones overwrite: trip counts.
void add_loop_extents(const LoopContext &at, ScheduleFeatures &f);

/// At the leaf: unrolling, points per thread and per production, expression branching.
void add_leaf_loops(const LoopContext &at, ScheduleFeatures &f);

/// At the stage's outermost nest: what one realization reads, by memory class.
void add_realization_footprint(const LoopContext &at, ScheduleFeatures &f);

/// At the leaf: what one thread and one point read.
void add_point_footprint(const LoopContext &at, ScheduleFeatures &f);

/// At the leaf: memory transactions of a block.
void add_memory_traffic(const LoopContext &at, ScheduleFeatures &f);

/// At the leaf: warps, lanes and resident blocks.
void add_occupancy(const LoopContext &at, ScheduleFeatures &f);

/// At a Block nest, for its own stage: shared memory.
void add_shared_occupancy(const LoopContext &at, ScheduleFeatures &f);

/// Features that a Func gets from the leaves it is inlined into. Sums over leaves, except where
/// noted.
struct InlinedSums {
    int func = -1;
    double calls = 0;
    double num_scalars = 0;
    /// Minimum over the leaves.
    double innermost_pure_loop_extent = 0;
    /// Of the last leaf.
    double tasks = 0;
    double warps = 0;
    double threads = 0;
    double points_per_thread = 0;
    /// Vector dimension of the last leaf's stage.
    int vector_dim = -1;
};

/// What one leaf, whose stage has features `f`, contributes to a Func inlined into it.
InlinedSums inlined_into(const LoopContext &at, const ScheduleFeatures &f, const InlinedCall &call);
/// Adds the sums of later leaves.
void add_inlined(InlinedSums &sums, const InlinedSums &later);
/// Writes the row of an inlined Func, all but what describes the whole program.
void write_inlined(const InlinedSums &sums, ScheduleFeatures &f);

}  // namespace anderson2021
