// Which Funcs a stage reads, along which paths and with which access matrices, given the Funcs that
// are inlined into its leaf.
//
// A stage does not read an inlined Func but what that Func reads, so its accesses are found by a
// walk through the inlined Funcs. The walk depends on nothing but the stage and the set of inlined
// Funcs, neither on sizes nor on places; so it is done once per such pair and its result, the plan,
// serves every schedule.
//
// Compat: a Func that is reached along several paths is accounted once per path, each time with all
// matrices collected so far. The cost model has learned from the resulting numbers, which depend on
// the order of the walk: depth first with a stack, edges sorted by the names of producers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "schedule/loop_nest.h"
#include "support/small_vector.h"
#include "support/spin_lock.h"

namespace anderson2021 {

/// Access of a Func by a stage, possibly through inlined Funcs.
class PlannedMatrix {
public:
    /// Direct access.
    explicit PlannedMatrix(const AccessJacobian &jacobian);
    /// Access through one more inlined Func, which reads the producer by `inner`.
    PlannedMatrix(const PlannedMatrix &outer, const AccessJacobian &inner);

    /// By the loops of the stage, one iteration each; the count says how many accesses share it.
    const AccessJacobian &jacobian() const { return product_; }
    /// The same for steps of `factors[j]` iterations of loop j.
    AccessJacobian scaled(const std::vector<int64_t> &factors) const;
    /// Whether scaling column j of jacobian() is the same as scaled(). If not, scaling has to
    /// precede the multiplication, because sums of different denominators are reduced.
    bool scaling_commutes() const { return scaling_commutes_; }
    /// Bit j: the access does not depend on loop j.
    uint64_t invariant_loops() const { return invariant_loops_; }
    /// Equal to the last bit: numerators, denominators and count.
    bool identical(const PlannedMatrix &other) const;

private:
    void find_invariant_loops();

    AccessJacobian product_;
    std::vector<AccessJacobian> factors_;  // consumer's first
    bool scaling_commutes_ = true;
    uint64_t invariant_loops_ = 0;
};

struct PlannedAccess {
    /// Index into AccessPlan::matrices.
    int matrix = -1;
    /// How often it is accounted at this visit.
    int64_t repeats = 0;
};

/// The last edge of a path from the stage to a producer.
struct PathStep {
    int edge = -1;
    /// Index of the step before in AccessPlan::steps; -1 at the stage. Lower than the own index.
    int before = -1;
};

/// One arrival at a Func that is not inlined.
struct ProducerVisit {
    int producer = -1;
    /// Last step of the path that leads there.
    int step = -1;
    /// No earlier visit has the same producer.
    bool first = false;
    std::vector<PlannedAccess> accesses;
};

struct AccessPlan {
    std::vector<PlannedMatrix> matrices;
    /// Paths with a common beginning share the steps of it.
    std::vector<PathStep> steps;
    /// In the order of the walk.
    std::vector<ProducerVisit> visits;
    /// Live values that the stage's expression needs.
    int branching = 0;
};

using AccessPlanPtr = std::shared_ptr<const AccessPlan>;

/// Makes the plan of a stage whose leaf has `inlined`.
AccessPlan
make_access_plan(const PipelineGraph &graph, int stage_id, const std::vector<InlinedCall> &inlined);

/// Remembers plans. Thread-safe.
class AccessPlans {
public:
    explicit AccessPlans(const PipelineGraph &graph) : graph_(graph) {}
    /// Plan of the stage of a leaf.
    AccessPlanPtr of_leaf(const LoopNest &leaf);

private:
    /// The stage, then the inlined Funcs in ascending order.
    using PlanKey = SmallVector<int, 12>;
    struct Shard {
        SpinLock mutex;
        std::map<PlanKey, AccessPlanPtr> plans;
    };
    const PipelineGraph &graph_;
    std::array<Shard, 16> shards_;
};

}  // namespace anderson2021
