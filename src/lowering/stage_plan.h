// Working data of lowering: what becomes of the loops of one stage.
//
// A plan starts as the tiling levels of the tree. The passes of this folder then fill in, in this
// order: the loop variables of every level (splits), unrolled variables, thread variables, block
// variables. Each pass appends its directives; the final loop order follows from the levels.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowering/directive.h"
#include "lowering/name_allocator.h"
#include "schedule/loop_nest.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// A loop that exists in the lowered program.
struct LoopVar {
    VarRef ref;
    /// Index of the symbolic loop of the stage.
    int loop = -1;
    /// Planned number of trips.
    int64_t trips = 1;
    /// The number of trips is a literal of a split, whatever the sizes at run time.
    bool literal = false;
    /// The number of trips follows from the program text if nothing outside is clipped; a region
    /// inside a tile at the border of the image may still be smaller.
    bool exact = false;
    /// Iterations are independent (a pure Var or a race-free RVar).
    bool pure = false;
};

/// One tiling level of a stage.
struct PlanLevel {
    GpuAxis axis = GpuAxis::Serial;
    /// The nest of the tree; null for a level that lowering has added.
    const LoopNest *nest = nullptr;
    /// Planned trips per loop of the stage.
    Extents size;
    /// Innermost first.
    std::vector<LoopVar> vars;
};

/// What to do about a loop of a root stage that must be at least as long as its tile.
enum class ShortLoops {
    Excluded,   // There are none: the schedule is only used where all loops are long enough.
    Guarded,    // Test every point.
    UnitTiles,  // Make tiles of a single point, so that everything computed inside stays simple.
};

struct StagePlan {
    const FuncNode *func = nullptr;
    const StageNode *stage = nullptr;
    /// The nest that the stage's outermost level is a child of.
    const LoopNest *parent = nullptr;
    const LoopNest *outermost = nullptr;
    /// Plan and level whose body computes the Func; -1 at the root.
    int site_plan = -1;
    int site_level = -1;
    /// Plan of the root child that contains this stage; its own index at the root.
    int task = -1;
    /// Everything here runs in one thread: below a Thread level, or in a kernel without threads.
    bool in_thread = false;
    /// Outermost first; without the leaf.
    std::vector<PlanLevel> levels;
    /// Schedule for which sizes this is.
    ShortLoops short_loops = ShortLoops::Excluded;
    /// Loops that must have at least so many trips at run time: (loop, trips).
    std::vector<std::pair<int, int64_t>> long_loops;
    /// The tiles of blocks, or of threads, may be cut off by a guard, so that what is computed in
    /// one has no constant size.
    bool clips_blocks = false;
    bool clips_threads = false;
    /// This stage is computed inside a tile that may be cut off.
    bool in_clipped_tile = false;
    /// Shared memory of the block that this stage is in: bytes of the block that needs most, before
    /// any rounding, and limit.
    double shared_bytes_used = 0;
    double shared_bytes_limit = 0;

    /// Every loop of the innermost level is pure and unrolled (or there is none).
    bool all_unrolled = false;
    /// Copies of this stage that unrolled loops of enclosing stages make, and of what is computed
    /// in its innermost level that its own make.
    int64_t unrolled_around = 1;
    int64_t unrolled_points = 1;
    /// Loops that become GPU threads, x first.
    std::vector<VarRef> thread_vars;

    /// Names of loop variables that the stage has or had.
    NameAllocator names;
    /// Loop variables in Halide's order, innermost first, as the splits so far leave them.
    std::vector<VarRef> order;
    std::vector<Directive> directives;

    bool at_root() const { return site_plan < 0; }
    const LoopDim &loop(int i) const { return stage->loops[static_cast<size_t>(i)]; }
    int num_loops() const { return static_cast<int>(stage->loops.size()); }
    /// Index of the Thread level, or -1.
    int thread_level() const;
    /// Product of the sizes of `loop` over all levels inside `level`.
    int64_t trips_below(int level, int loop) const;

    /// The level whose tile is what one thread does: the Thread level, else the outermost one.
    int body_level() const { return thread_level() < 0 ? 0 : thread_level(); }
    /// Other stages are computed at `level`.
    bool computes_others_at(int level) const;
    /// Other stages are computed at `level` or inside.
    bool computes_others(int level) const;

    /// Splits `var` by `factor`: `var` keeps its name and becomes the outer loop. Returns the
    /// inner one, named after `var` with `suffix` appended.
    VarRef split(const VarRef &var, int64_t factor, Tail tail, const std::string &suffix);
    /// Splits `var` by `factor`: `var` keeps its name and becomes the inner loop. Returns the outer
    /// one, named after `var` with `suffix` appended.
    VarRef split_outer(const VarRef &var, int64_t factor, Tail tail, const std::string &suffix);
    /// Adds a loop of a single trip around all loops of the stage, which can't be reordered any
    /// more.
    VarRef split_outermost(const std::string &name);
    void add(Directive::Kind kind, std::vector<VarRef> vars);
};

/// A plan with levels, sizes and names but without variables.
StagePlan
make_stage_plan(const PipelineGraph &graph, const LoopNest &outermost, const LoopNest &parent);

/// A plan for computing the stage at the root, wherever the tree has it: one point per thread, up
/// to `num_threads` threads along the lane loop. Its own levels become serial ones inside, so that
/// whatever they compute still is computed by a thread.
StagePlan make_root_stage_plan(const PipelineGraph &graph,
                               const LoopNest &outermost,
                               const LoopNest &root,
                               int64_t num_threads);

/// Loops of the stage, innermost first, with the lane loop moved to the front of the pure ones.
std::vector<int> loop_order(const StagePlan &plan);

/// Trips of a loop before any split, at the compute site.
const Span &whole_span(const StagePlan &plan, int loop);

/// The innermost loop variable at or outside `level` in the final order; the variable "outermost"
/// of Halide if there is none.
VarRef innermost_var(const StagePlan &plan, int level);

/// Name of Halide's placeholder loop around all loops of a stage.
extern const char *const kOutermostVar;

/// Brings the loops into the order of the levels, with one directive if the splits have left them
/// in another one.
void reorder_loops(StagePlan &plan);

}  // namespace anderson2021
