// What the feature groups may see at one nest: the nest with its surroundings, where Funcs live,
// and which GPU levels enclose it. Read-only.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "device/warp_layout.h"
#include "featurizer/access_plan.h"
#include "schedule/loop_nest.h"
#include "schedule/sites.h"

namespace anderson2021 {

/// The same for all nests of a tree.
struct FeatureEnvironment {
    const PipelineGraph &graph;
    const GpuDevice &device;
    /// Number of multiprocessors.
    int parallelism = 16;
    const Sites &sites;

    /// Sites of a Func (all of its stages share them).
    const Site &site_of_func(int func) const { return sites.of(graph.func(func).stages[0].id); }
};

/// Serial levels inside a thread, from the inside out. Lives in the walk's stack frames.
struct SerialLevel {
    const LoopNest *nest = nullptr;
    const SerialLevel *outer = nullptr;
};

/// GPU levels around a nest, the nest itself included.
struct GpuContext {
    const LoopNest *block = nullptr;
    const LoopNest *thread = nullptr;
    /// Threads of `thread`; null outside of threads.
    const WarpLayout *layout = nullptr;
    int64_t blocks = 1;
    /// Iterations of the Serial levels between block and thread, and inside the thread.
    int64_t outer_serial = 1;
    int64_t inner_serial = 1;
    /// Innermost Serial level inside the thread.
    const SerialLevel *serial = nullptr;

    int64_t total_serial() const { return outer_serial * inner_serial; }
    /// Accounts for entering `nest`. `level` is used if it is a Serial level inside a thread; it
    /// has to outlive the context. `layout` stays as it is.
    void enter(const LoopNest &nest, SerialLevel &level);
    /// Product of the iterations of the Serial levels inside the thread that enclose all levels of
    /// `func`.
    int64_t serial_iterations_around(int func) const;
};

/// A nest below the root.
struct LoopContext {
    const FeatureEnvironment &env;
    const LoopNest &nest;
    const LoopNest &parent;
    /// Null if the parent is the root.
    const LoopNest *grandparent = nullptr;
    const FuncNode &func;
    const StageNode &stage;
    /// What the stage reads.
    const AccessPlan &plan;
    GpuContext gpu;
    /// How often the nest as a whole, and its body, is run.
    int64_t instances = 1;
    int64_t sub_instances = 1;
    /// Parallel tasks of the enclosing nests, and of this one.
    int64_t outer_tasks = 1;
    int64_t tasks = 1;

    /// The outermost level of its stage.
    bool starts_func() const { return parent.func != nest.func; }
    /// A child of the root.
    bool is_task() const { return parent.is_root(); }
    /// The stage has no loops.
    bool is_scalar() const { return nest.size.empty(); }
    /// Sites of the stage.
    const Site &site() const { return env.sites.of(stage.id); }
    /// Regions of the stage's Func at `at`.
    const FuncRegion &own_region(const LoopNest &at) const { return at.regions->of(func.id); }
};

/// Number of tasks that the loops of a nest start in parallel.
int64_t count_parallel_tasks(const LoopNest &nest, const StageNode &stage, int parallelism);

/// a * b, or the largest number if that does not fit. Both are non-negative.
int64_t saturating_multiply(int64_t a, int64_t b);

}  // namespace anderson2021
