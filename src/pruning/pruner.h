// Rules that drop a schedule. A rule either passes it or says which limit it breaks; nothing is
// ever rejected through a magic cost or an exception.
//
// Every structural rule judges the children of the root (tasks, one kernel each) one by one and by
// their subtree alone. Whoever replaces one task of a schedule that has passed needs to have the
// new task judged only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "features/feature_matrix.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Why a schedule was dropped.
struct Rejection {
    /// Name of the rule, e.g. "shared-memory". Static storage.
    const char *rule = "";
    double value = 0;
    double limit = 0;
};

/// What the rules need to know besides the tree.
struct PruneContext {
    const PipelineGraph &graph;
    const GpuDevice &device;
    /// Share of GpuDevice::stack_bytes_per_thread that local allocations may use.
    double stack_factor = 0.95f;
    bool reference_features = false;
    /// Most registers that a thread may need by the estimate; 0: as many as it likes.
    int64_t register_limit = 0;
    /// Result of find_funcs_following_outputs(). Null: Funcs whose size is not known may be
    /// computed anywhere, so lowering may have to move them.
    std::shared_ptr<const BitSet> following_outputs = nullptr;
    /// Func ids exempt from the recompute rule.
    const BitSet *always_consider_inline = nullptr;
};

/// A rule that needs only the tree (before completion).
class StructuralPruner {
public:
    virtual ~StructuralPruner() = default;
    virtual const char *name() const = 0;
    /// Judges one child of the root.
    virtual std::optional<Rejection> reject_task(const LoopNest &task,
                                                 const PruneContext &context) const = 0;
    /// The first rejection among the children of the root.
    std::optional<Rejection> reject(const LoopNest &root, const PruneContext &context) const;
};

/// A rule that needs the features, too.
class FeaturePruner {
public:
    virtual ~FeaturePruner() = default;
    virtual const char *name() const = 0;
    virtual std::optional<Rejection> reject(const LoopNest &root,
                                            const FeatureMatrix &features,
                                            const PruneContext &context) const = 0;
};

/// The recompute rule for one stage: `work` points were computed or inlined, at least `needed` have
/// to be.
std::optional<Rejection> reject_recompute(double work, double needed);
/// Whether the recompute rule leaves the Func alone.
bool is_exempt_from_recompute(const FuncNode &func, const PruneContext &context);

/// All rules in the order in which they are applied: cheap ones first.
const std::vector<std::unique_ptr<StructuralPruner>> &structural_pruners();
const std::vector<std::unique_ptr<FeaturePruner>> &feature_pruners();

}  // namespace anderson2021
