// From trees to predicted costs: structural rules, features, feature rules, network.
//
// Many trees are evaluated at once. Features are computed in parallel, each into the slot of its
// tree; everything after that (look-up of known rows, one batch for the network, sums) is done by
// the calling thread in order. So neither the costs nor their order depend on the number of
// threads.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "featurizer/featurizer.h"
#include "pruning/pruner.h"
#include "search/rejections.h"
#include "search/row_cost_cache.h"
#include "search/search_state.h"
#include "support/thread_pool.h"

namespace anderson2021 {

/// A tree and the Funcs that the recompute rule exempts in it.
struct EvaluationRequest {
    LoopNestPtr tree;
    std::shared_ptr<const BitSet> always_inline;
};

/// Costs, or the rule that the tree breaks.
struct Evaluation {
    StateCostsPtr costs;
    std::optional<Rejection> rejection;

    bool accepted() const { return costs != nullptr; }
};

/// The rows that the network needs, or the rule that the tree breaks.
struct FeaturizedTree {
    /// In record order; only stages that are placed or inlined.
    std::vector<StageRow> rows;
    double root_working_set = 0;
    std::optional<Rejection> rejection;
};

class StateEvaluator {
public:
    /// Everything is kept by reference. `context.always_consider_inline` is not used.
    StateEvaluator(const Featurizer &featurizer,
                   CostModel &model,
                   const PruneContext &context,
                   ThreadPool &pool);

    /// The first structural rule that `tree` breaks. Safe from any thread.
    std::optional<Rejection> check_structure(const LoopNest &tree) const;
    /// All rules and the features. Safe from any thread.
    FeaturizedTree featurize(const EvaluationRequest &request) const;
    /// Costs of all trees, in order. Trees seen before are not evaluated again.
    std::vector<Evaluation> evaluate(const std::vector<EvaluationRequest> &requests);
    /// The same for one tree, without using or filling any memory of earlier trees.
    Evaluation evaluate_afresh(const EvaluationRequest &request);
    /// Costs of loose rows; not remembered.
    std::vector<float> predict(const std::vector<StageRow> &rows);

    /// Forgets the trees seen if there are more than `limit`.
    void trim(size_t limit);

    double featurization_ms() const { return featurization_ms_; }
    /// Time for collecting rows, for looking them up, and in the model.
    double feature_write_ms() const { return feature_write_ms_; }
    double enqueue_ms() const { return lookup_ms_ - row_costs_.model_ms(); }
    double cost_model_ms() const { return row_costs_.model_ms() + loose_rows_ms_; }
    int64_t num_evaluated() const { return num_evaluated_; }
    /// Counts a rejection that happened outside of evaluate().
    void note(const Rejection &rejection, int64_t count = 1);
    /// Rejections since the last call.
    RejectionTally take_rejections();

private:
    struct KnownTree {
        LoopNestPtr tree;
        std::shared_ptr<const BitSet> always_inline;
        Evaluation result;
    };

    const KnownTree *find_known(const EvaluationRequest &request, uint64_t hash) const;
    Evaluation finish(const FeaturizedTree &tree, const float *costs) const;

    const Featurizer &featurizer_;
    CostModel &model_;
    PruneContext context_;
    ThreadPool &pool_;
    RowCostCache row_costs_;
    std::unordered_map<uint64_t, std::vector<KnownTree>> known_;
    size_t num_known_ = 0;
    double featurization_ms_ = 0;
    double feature_write_ms_ = 0;
    double lookup_ms_ = 0;
    double loose_rows_ms_ = 0;
    int64_t num_evaluated_ = 0;
    RejectionTally rejections_;
};

}  // namespace anderson2021
