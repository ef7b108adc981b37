#include "featurizer/access_plan.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "support/error.h"

namespace anderson2021 {

namespace {

// Plans per shard; all of them are dropped when a shard is full.
constexpr size_t kMaxPlansPerShard = 2048;

bool has_plain_denominators(const AccessJacobian &j) {
    for (int r = 0; r < j.rows(); r++) {
        for (int c = 0; c < j.cols(); c++) {
            const int32_t d = j.at(r, c).d;
            if (d != 0 && d != 1) {
                return false;
            }
        }
    }
    return true;
}

bool identical_entries(const AccessJacobian &a, const AccessJacobian &b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) {
        return false;
    }
    for (int r = 0; r < a.rows(); r++) {
        for (int c = 0; c < a.cols(); c++) {
            if (a.at(r, c).n != b.at(r, c).n || a.at(r, c).d != b.at(r, c).d) {
                return false;
            }
        }
    }
    return true;
}

bool contains(const std::vector<InlinedCall> &inlined, int func) {
    return std::any_of(
        inlined.begin(), inlined.end(), [&](const InlinedCall &c) { return c.func == func; });
}

/// The walk through the inlined Funcs.
class PlanBuilder {
public:
    PlanBuilder(const PipelineGraph &graph, int stage_id, const std::vector<InlinedCall> &inlined)
        : graph_(graph), stage_id_(stage_id), inlined_(inlined),
          collected_(static_cast<size_t>(graph.num_funcs())),
          seen_(static_cast<size_t>(graph.num_funcs())) {}

    AccessPlan build() {
        // Stages with the step that leads to them.
        std::vector<std::pair<int, int>> stack{{stage_id_, -1}};
        while (!stack.empty()) {
            const auto [stage, before] = stack.back();
            stack.pop_back();
            for (const int id : graph_.stage(stage).incoming_edges) {
                const Edge &edge = graph_.edge(id);
                const auto step = static_cast<int>(plan_.steps.size());
                plan_.steps.push_back({id, before});
                collect(edge);
                if (contains(inlined_, edge.producer)) {
                    stack.emplace_back(graph_.func(edge.producer).stages[0].id, step);
                } else {
                    visit(edge.producer, step);
                }
            }
        }
        plan_.branching = expression_branching(graph_.branching,
                                               graph_.stage(stage_id_).func,
                                               [&](int f) { return contains(inlined_, f); });
        return std::move(plan_);
    }

private:
    // Matrices of accesses to edge.producer that this edge contributes.
    void collect(const Edge &edge) {
        for (const AccessJacobian &j : edge.load_jacobians) {
            if (edge.consumer_stage == stage_id_) {
                add(edge.producer, PlannedMatrix(j), 1);
                continue;
            }
            for (const PlannedAccess &outer : collected_[static_cast<size_t>(edge.consumer_func)]) {
                add(edge.producer,
                    PlannedMatrix(plan_.matrices[static_cast<size_t>(outer.matrix)], j),
                    outer.repeats);
            }
        }
    }

    void add(int producer, PlannedMatrix matrix, int64_t repeats) {
        for (PlannedAccess &a : collected_[static_cast<size_t>(producer)]) {
            if (plan_.matrices[static_cast<size_t>(a.matrix)].identical(matrix)) {
                a.repeats += repeats;
                return;
            }
        }
        collected_[static_cast<size_t>(producer)].push_back(
            {static_cast<int>(plan_.matrices.size()), repeats});
        plan_.matrices.push_back(std::move(matrix));
    }

    void visit(int producer, int step) {
        ProducerVisit v;
        v.producer = producer;
        v.step = step;
        v.first = seen_[static_cast<size_t>(producer)] == 0;
        v.accesses = collected_[static_cast<size_t>(producer)];
        seen_[static_cast<size_t>(producer)] = 1;
        plan_.visits.push_back(std::move(v));
    }

    const PipelineGraph &graph_;
    const int stage_id_;
    const std::vector<InlinedCall> &inlined_;
    // Per Func: the matrices met so far, equal ones counted.
    std::vector<std::vector<PlannedAccess>> collected_;
    std::vector<char> seen_;
    AccessPlan plan_;
};

}  // namespace

PlannedMatrix::PlannedMatrix(const AccessJacobian &jacobian)
    : product_(jacobian), factors_{jacobian} {
    find_invariant_loops();
}

PlannedMatrix::PlannedMatrix(const PlannedMatrix &outer, const AccessJacobian &inner)
    : product_(inner * outer.product_), factors_(outer.factors_),
      scaling_commutes_(outer.scaling_commutes_ && has_plain_denominators(outer.product_) &&
                        has_plain_denominators(inner)) {
    factors_.push_back(inner);
    find_invariant_loops();
}

void PlannedMatrix::find_invariant_loops() {
    ANDERSON_CHECK(product_.cols() <= 64) << "A stage with " << product_.cols() << " loops";
    for (int j = 0; j < product_.cols(); j++) {
        if (product_.column_is_zero(j)) {
            invariant_loops_ |= uint64_t{1} << j;
        }
    }
    if (product_.rows() == 0) {
        invariant_loops_ = ~uint64_t{0};
    }
}

AccessJacobian PlannedMatrix::scaled(const std::vector<int64_t> &factors) const {
    if (scaling_commutes_) {
        return product_.scaled(factors);
    }
    AccessJacobian result = factors_.front().scaled(factors);
    for (size_t i = 1; i < factors_.size(); i++) {
        result = factors_[i] * result;
    }
    return result;
}

bool PlannedMatrix::identical(const PlannedMatrix &other) const {
    if (product_.count() != other.product_.count() ||
        scaling_commutes_ != other.scaling_commutes_ ||
        !identical_entries(product_, other.product_)) {
        return false;
    }
    // Products that were reduced differently on the way may still differ once they are scaled.
    return scaling_commutes_ || std::equal(factors_.begin(),
                                           factors_.end(),
                                           other.factors_.begin(),
                                           other.factors_.end(),
                                           identical_entries);
}

AccessPlan make_access_plan(const PipelineGraph &graph,
                            int stage_id,
                            const std::vector<InlinedCall> &inlined) {
    return PlanBuilder(graph, stage_id, inlined).build();
}

AccessPlanPtr AccessPlans::of_leaf(const LoopNest &leaf) {
    PlanKey key;
    key.reserve(leaf.inlined.size() + 1);
    key.push_back(leaf.stage_id);
    for (const InlinedCall &c : leaf.inlined) {
        key.push_back(c.func);
    }
    std::sort(key.begin() + 1, key.end());
    Shard &shard = shards_[static_cast<size_t>(leaf.stage_id) % shards_.size()];
    {
        const std::lock_guard<SpinLock> lock(shard.mutex);
        const auto known = shard.plans.find(key);
        if (known != shard.plans.end()) {
            return known->second;
        }
    }
    auto plan =
        std::make_shared<const AccessPlan>(make_access_plan(graph_, leaf.stage_id, leaf.inlined));
    const std::lock_guard<SpinLock> lock(shard.mutex);
    if (shard.plans.size() >= kMaxPlansPerShard) {
        shard.plans.clear();
    }
    return shard.plans.emplace(std::move(key), std::move(plan)).first->second;
}

}  // namespace anderson2021
