// From trees to predicted costs: structural rules, features, feature rules, network.
//
// Many trees are evaluated at once. Features are computed in parallel, each into the slot of its
// tree; everything after that (batches for the network, sums) is done in order, by one thread at a
// time. So neither the costs nor their order depend on the number of threads.
//
// A successor shares most blocks with the schedule that it was made from; what was found out about
// those is taken over.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "costmodel/cost_model.h"
#include "featurizer/featurizer.h"
#include "pruning/pruner.h"
#include "search/block_table.h"
#include "search/rejections.h"
#include "search/search_state.h"
#include "support/thread_pool.h"

namespace anderson2021 {

/// A tree and the Funcs that the recompute rule exempts in it.
struct EvaluationRequest {
    LoopNestPtr tree;
    std::shared_ptr<const BitSet> always_inline;
    /// If set: the legal schedule that the tree was made from, by deciding `decided_func`.
    const SearchState *parent = nullptr;
    int decided_func = -1;
    /// The tree has passed check_structure().
    bool structure_checked = false;
    /// Blocks that are new in the tree are likely to come up again.
    bool remember_blocks = true;
};

/// Costs, or the rule that the tree breaks.
struct Evaluation {
    StateCostsPtr costs;
    std::optional<Rejection> rejection;

    bool accepted() const { return costs != nullptr; }
};

/// What the network needs to know of a tree, or the rule that the tree breaks.
struct FeaturizedTree {
    /// One per child of the root.
    std::vector<BlockRecordPtr> blocks;
    /// Rows that are in no block: of Funcs inlined into several of them, and of all if the tree
    /// does not follow the graph order. Complete.
    std::vector<StageRow> other_rows;
    /// Funcs inlined into several blocks, ascending.
    std::vector<int> inlined_in_several;
    double root_working_set = 0;
    std::optional<Rejection> rejection;

    /// Appends all rows, with the root's working set filled in: one for each stage.
    void append_rows(StoreSets store_sets, std::vector<StageRow> &rows) const;
};

class StateEvaluator {
public:
    /// Everything is kept by reference. `context.always_consider_inline` is not used.
    StateEvaluator(const Featurizer &featurizer,
                   CostModel &model,
                   const PruneContext &context,
                   ThreadPool &pool,
                   size_t max_block_bytes = size_t{256} << 20);
    ~StateEvaluator();
    StateEvaluator(const StateEvaluator &) = delete;
    StateEvaluator &operator=(const StateEvaluator &) = delete;

    /// The first structural rule that `tree` breaks. Children that it shares with `parent`, a legal
    /// schedule or null, are not looked at. Safe from any thread.
    std::optional<Rejection> check_structure(const LoopNest &tree,
                                             const LoopNest *parent = nullptr) const;
    /// All rules and the features. Safe from any thread.
    FeaturizedTree featurize(const EvaluationRequest &request);
    /// Costs of all trees, in order. Trees seen before are not evaluated again.
    std::vector<Evaluation> evaluate(const std::vector<EvaluationRequest> &requests);
    /// The same for one tree, without using or filling any memory of earlier trees.
    Evaluation evaluate_afresh(const EvaluationRequest &request);
    /// Costs of loose rows; not remembered.
    std::vector<float> predict(const std::vector<StageRow> &rows);

    /// Forgets the trees seen if they take up more than `max_bytes`.
    void trim(size_t max_bytes);
    /// Approximate bytes of the trees seen.
    size_t bytes() const { return known_bytes_; }
    /// Features of blocks, known to all schedules.
    BlockTable &blocks() { return blocks_; }

    double featurization_ms() const { return featurization_ms_; }
    /// Time for collecting rows, for summing up, and in the model.
    double feature_write_ms() const { return feature_write_ms_; }
    double enqueue_ms() const { return enqueue_ms_; }
    double cost_model_ms() const { return cost_model_ms_; }
    int64_t num_evaluated() const { return num_evaluated_; }
    /// Trees whose features were put together.
    int64_t num_featurized() const { return num_featurized_; }
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
    // A tree of a batch that is not known yet.
    struct Fresh {
        const EvaluationRequest *request = nullptr;
        KnownTree *known = nullptr;
        FeaturizedTree featurized;
    };

    void forget_trees();
    KnownTree *find_known(const EvaluationRequest &request, uint64_t hash);
    void evaluate_fresh(std::vector<Fresh> &fresh);
    void cost_fresh(Fresh *begin, Fresh *end);
    void featurize_blocks(const EvaluationRequest &request, FeaturizedTree &result);
    void featurize_whole(const EvaluationRequest &request, FeaturizedTree &result) const;
    void sum_inlined(const EvaluationRequest &request, FeaturizedTree &result) const;
    Evaluation
    finish(FeaturizedTree &tree, const StageRow *rows, const float *costs, size_t num_rows) const;

    const Featurizer &featurizer_;
    CostModel &model_;
    PruneContext context_;
    ThreadPool &pool_;
    BlockTable blocks_;
    std::unordered_multimap<uint64_t, KnownTree> known_;
    // Of the trees that are being evaluated; keeps its memory.
    std::vector<StageRow> rows_;
    size_t known_bytes_ = 0;
    double featurization_ms_ = 0;
    double feature_write_ms_ = 0;
    double enqueue_ms_ = 0;
    double cost_model_ms_ = 0;
    int64_t num_evaluated_ = 0;
    int64_t num_featurized_ = 0;
    RejectionTally rejections_;
};

}  // namespace anderson2021
