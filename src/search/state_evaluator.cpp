#include "search/state_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "search/depth_hash.h"
#include "search/stopwatch.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/pool.h"

namespace anderson2021 {

namespace {

// Trees of a batch whose rows are in memory at the same time.
constexpr size_t kChunk = 64;

constexpr size_t index_of(size_t offset) {
    return offset / sizeof(double);
}
// The features that depend on the whole program's working set.
constexpr size_t kAtProduction = index_of(offsetof(ScheduleFeatures, working_set_at_production));
constexpr size_t kAtRealization = index_of(offsetof(ScheduleFeatures, working_set_at_realization));
constexpr size_t kAtRoot = index_of(offsetof(ScheduleFeatures, working_set_at_root));

uint64_t hash_request(const EvaluationRequest &request) {
    uint64_t hash = full_hash(*request.tree);
    const BitSet &exempt = *request.always_inline;
    for (size_t i = 0; i < exempt.num_words(); i++) {
        hash_combine(hash, exempt.word(i));
    }
    return hash;
}

bool is_finite(const StageRow &row) {
    return std::all_of(std::begin(row.features), std::end(row.features), [](float value) {
        return std::isfinite(value);
    });
}

}  // namespace

void FeaturizedTree::append_rows(StoreSets store_sets, std::vector<StageRow> &rows) const {
    const auto at_root = static_cast<float>(root_working_set);
    for (const BlockRecordPtr &block : blocks) {
        const size_t first = rows.size();
        rows.insert(rows.end(), block->rows.begin(), block->rows.end());
        if (!block->rows.empty()) {
            rows[first].features[kAtProduction] = at_root;
            rows[first].features[kAtRealization] = at_root;
        }
        for (size_t i = first; i < rows.size(); i++) {
            rows[i].features[kAtRoot] = at_root;
            if (store_sets == StoreSets::EveryAncestor) {
                rows[i].features[kAtRealization] = at_root;
            }
        }
        for (size_t i = 0; i < block->inlined.size(); i++) {
            if (!std::binary_search(
                    inlined_in_several.begin(), inlined_in_several.end(), block->inlined[i].func)) {
                rows.push_back(block->inlined_rows[i]);
                rows.back().features[kAtRoot] = at_root;
            }
        }
    }
    rows.insert(rows.end(), other_rows.begin(), other_rows.end());
}

StateEvaluator::StateEvaluator(const Featurizer &featurizer,
                               CostModel &model,
                               const PruneContext &context,
                               ThreadPool &pool,
                               size_t max_block_bytes)
    : featurizer_(featurizer), model_(model), context_(context), pool_(pool),
      blocks_(context.graph, featurizer, max_block_bytes) {}

// Setting free what a search has collected takes a tenth of its time.
StateEvaluator::~StateEvaluator() {
    forget_trees();
    blocks_.clear(pool_);
}

void StateEvaluator::forget_trees() {
    std::vector<KnownTree> trees;
    trees.reserve(known_.size());
    for (auto &entry : known_) {
        trees.push_back(std::move(entry.second));
    }
    known_.clear();
    known_bytes_ = 0;
    constexpr size_t kPerTask = 256;
    const size_t num_tasks = (trees.size() + kPerTask - 1) / kPerTask;
    pool_.parallel_for(static_cast<int64_t>(num_tasks), [&](int64_t n) {
        const size_t first = static_cast<size_t>(n) * kPerTask;
        for (size_t i = first; i < std::min(first + kPerTask, trees.size()); i++) {
            trees[i] = KnownTree();
        }
    });
}

std::optional<Rejection> StateEvaluator::check_structure(const LoopNest &tree,
                                                         const LoopNest *parent) const {
    for (const auto &pruner : structural_pruners()) {
        for (size_t i = 0; i < tree.children.size(); i++) {
            if (parent != nullptr && i < parent->children.size() &&
                parent->children[i] == tree.children[i]) {
                continue;
            }
            if (auto rejection = pruner->reject_task(*tree.children[i], context_)) {
                return rejection;
            }
        }
    }
    return std::nullopt;
}

FeaturizedTree StateEvaluator::featurize(const EvaluationRequest &request) {
    FeaturizedTree result;
    if (!request.structure_checked) {
        const LoopNest *parent = request.parent != nullptr ? request.parent->tree.get() : nullptr;
        result.rejection = check_structure(*request.tree, parent);
        if (result.rejection) {
            return result;
        }
    }
    featurize_blocks(request, result);
    return result;
}

// The features of the schedule as a list of those of its blocks.
void StateEvaluator::featurize_blocks(const EvaluationRequest &request, FeaturizedTree &result) {
    const std::vector<LoopNestPtr> &children = request.tree->children;
    std::optional<RootPlacement> placement;
    result.blocks.reserve(children.size());
    const SearchState *parent = request.parent;
    for (size_t i = 0; i < children.size(); i++) {
        if (parent != nullptr && i < parent->costs->blocks.size() &&
            parent->tree->children[i] == children[i] &&
            !parent->costs->blocks[i]->open.contains(request.decided_func)) {
            result.blocks.push_back(parent->costs->blocks[i]);
            continue;
        }
        if (!placement) {
            placement.emplace(context_.graph, *request.tree);
            if (!placement->follows_graph_order()) {
                result.blocks.clear();
                featurize_whole(request, result);
                return;
            }
        }
        result.blocks.push_back(request.remember_blocks
                                    ? blocks_.get(request.tree, i, *placement)
                                    : blocks_.make(request.tree, i, *placement));
        if (result.blocks.back()->unpromotable_func) {
            result.rejection =
                Rejection{"register-promotion",
                          0,
                          static_cast<double>(context_.device.register_allocation_bytes)};
            return;
        }
    }

    PruneContext context = context_;
    context.always_consider_inline = request.always_inline.get();
    int first_stage = context_.graph.num_stages();
    bool finite = true;
    for (const BlockRecordPtr &block : result.blocks) {
        result.root_working_set += block->working_set;
        finite = finite && block->finite;
        for (const BlockRecord::Excess &excess : block->excesses) {
            const StageNode &stage = context_.graph.stage(excess.stage_id);
            if (excess.stage_id < first_stage &&
                !is_exempt_from_recompute(context_.graph.func(stage.func), context)) {
                first_stage = excess.stage_id;
                result.rejection = excess.rejection;
            }
        }
    }
    for (const BlockRecordPtr &block : result.blocks) {
        result.root_working_set += block->bytes_at_root;
    }
    if (!result.rejection) {
        sum_inlined(request, result);
    }
    if (!result.rejection && !(finite && std::isfinite(result.root_working_set))) {
        result.rejection = Rejection{"non-finite-feature", 0, 0};
    }
}

// Rows of Funcs that are inlined into several blocks.
void StateEvaluator::sum_inlined(const EvaluationRequest &request, FeaturizedTree &result) const {
    BitSet seen(context_.graph.num_funcs()), several(context_.graph.num_funcs());
    for (const BlockRecordPtr &block : result.blocks) {
        for (const InlinedSums &sums : block->inlined) {
            (seen.contains(sums.func) ? several : seen).insert(sums.func);
        }
    }
    PruneContext context = context_;
    context.always_consider_inline = request.always_inline.get();
    several.for_each([&](int func) {
        InlinedSums all;
        for (const BlockRecordPtr &block : result.blocks) {
            for (const InlinedSums &sums : block->inlined) {
                if (sums.func == func && all.func < 0) {
                    all = sums;
                } else if (sums.func == func) {
                    add_inlined(all, sums);
                }
            }
        }
        const FuncNode &node = context_.graph.func(func);
        if (!result.rejection && !is_exempt_from_recompute(node, context)) {
            result.rejection =
                reject_recompute(all.calls, featurizer_.facts().minimum_points(node.stages[0].id));
        }
        result.inlined_in_several.push_back(func);
        result.other_rows.push_back(blocks_.inlined_row(all));
        result.other_rows.back().features[kAtRoot] = static_cast<float>(result.root_working_set);
    });
}

// By way of the features of all stages in double precision.
void StateEvaluator::featurize_whole(const EvaluationRequest &request,
                                     FeaturizedTree &result) const {
    const Featurization featurization = featurizer_.featurize(request.tree);
    if (featurization.unpromotable_func) {
        result.rejection =
            Rejection{"register-promotion",
                      0,
                      static_cast<double>(context_.device.register_allocation_bytes)};
        return;
    }
    PruneContext context = context_;
    context.always_consider_inline = request.always_inline.get();
    for (const auto &pruner : feature_pruners()) {
        result.rejection = pruner->reject(*request.tree, featurization.features, context);
        if (result.rejection) {
            return;
        }
    }
    const std::vector<int> &order = context_.graph.record_order();
    for (size_t position = 0; position < order.size(); position++) {
        if (!featurization.features.has(order[position])) {
            continue;
        }
        const ScheduleFeatures &features = featurization.features.row(order[position]);
        result.root_working_set = features.working_set_at_root;
        const StageRow row = narrowed_row(static_cast<int>(position), features);
        if (!is_finite(row)) {
            result.rejection = Rejection{"non-finite-feature", 0, 0};
            return;
        }
        result.other_rows.push_back(row);
    }
}

Evaluation StateEvaluator::finish(FeaturizedTree &tree,
                                  const StageRow *rows,
                                  const float *costs,
                                  size_t num_rows) const {
    auto result = make_pooled<StateCosts>();
    result->per_stage.resize(context_.graph.record_order().size());
    result->root_working_set = tree.root_working_set;
    for (size_t i = 0; i < num_rows; i++) {
        if (!std::isfinite(costs[i])) {
            return {nullptr, Rejection{"non-finite-cost", static_cast<double>(costs[i]), 0}};
        }
        result->per_stage[static_cast<size_t>(rows[i].position)] = costs[i];
    }
    result->blocks = std::move(tree.blocks);
    result->sum_up();
    return {std::move(result), std::nullopt};
}

StateEvaluator::KnownTree *StateEvaluator::find_known(const EvaluationRequest &request,
                                                      uint64_t hash) {
    const auto range = known_.equal_range(hash);
    for (auto it = range.first; it != range.second; ++it) {
        KnownTree &known = it->second;
        if (known.tree->same_structure(*request.tree) &&
            *known.always_inline == *request.always_inline) {
            return &known;
        }
    }
    return nullptr;
}

std::vector<Evaluation> StateEvaluator::evaluate(const std::vector<EvaluationRequest> &requests) {
    const Stopwatch lookup;
    // Trees that occur twice in the batch are evaluated once: the first enters a placeholder.
    std::vector<KnownTree *> known;
    std::vector<Fresh> fresh;
    known.reserve(requests.size());
    for (const EvaluationRequest &request : requests) {
        const uint64_t hash = hash_request(request);
        KnownTree *entry = find_known(request, hash);
        if (entry == nullptr) {
            // References to elements of the map stay valid.
            entry =
                &known_.emplace(hash, KnownTree{request.tree, request.always_inline, {}})->second;
            fresh.push_back({&request, entry, {}});
        }
        known.push_back(entry);
    }
    enqueue_ms_ += lookup.ms();
    evaluate_fresh(fresh);

    std::vector<Evaluation> results;
    results.reserve(requests.size());
    for (const KnownTree *entry : known) {
        results.push_back(entry->result);
        if (results.back().rejection) {
            note(*results.back().rejection);
        }
    }
    return results;
}

// While the features of a chunk are computed, one thread costs the chunk before.
void StateEvaluator::evaluate_fresh(std::vector<Fresh> &fresh) {
    const auto place = [&](size_t i) { return fresh.data() + std::min(i, fresh.size()); };
    for (size_t i = 0; i < fresh.size() + kChunk; i += kChunk) {
        const Stopwatch stopwatch;
        Fresh *const begin = place(i);
        const int64_t num_featurized = place(i + kChunk) - begin;
        const int64_t first = i > 0 ? 1 : 0;
        double costing_ms = 0;
        pool_.parallel_for(first + num_featurized, [&](int64_t n) {
            if (n < first) {
                const Stopwatch costing;
                cost_fresh(place(i - kChunk), begin);
                costing_ms = costing.ms();
            } else {
                Fresh &f = begin[n - first];
                f.featurized = featurize(*f.request);
            }
        });
        num_featurized_ += num_featurized;
        featurization_ms_ += std::max(stopwatch.ms() - costing_ms, 0.0);
    }
}

void StateEvaluator::cost_fresh(Fresh *begin, Fresh *end) {
    const Stopwatch feature_write;
    std::vector<StageRow> &rows = rows_;
    rows.clear();
    std::vector<size_t> first_row;
    for (const Fresh *f = begin; f != end; ++f) {
        first_row.push_back(rows.size());
        if (!f->featurized.rejection) {
            f->featurized.append_rows(featurizer_.store_sets(), rows);
        }
    }
    first_row.push_back(rows.size());
    feature_write_ms_ += feature_write.ms();
    const Stopwatch model;
    const std::vector<float> costs = model_.predict(rows);
    ANDERSON_CHECK(costs.size() == rows.size()) << "The cost model lost rows";
    cost_model_ms_ += model.ms();

    const Stopwatch sums;
    for (Fresh *f = begin; f != end; ++f) {
        Evaluation &result = f->known->result;
        result.rejection = f->featurized.rejection;
        if (!result.rejection) {
            num_evaluated_++;
            const auto i = static_cast<size_t>(f - begin);
            const size_t first = first_row[i];
            result = finish(
                f->featurized, rows.data() + first, costs.data() + first, first_row[i + 1] - first);
        }
        const SearchState *parent = f->request->parent;
        known_bytes_ +=
            sizeof(KnownTree) + sizeof(StateCosts) +
            approximate_bytes(*f->known->tree, parent != nullptr ? parent->tree.get() : nullptr);
        if (result.costs != nullptr) {
            known_bytes_ += result.costs->per_stage.size() * sizeof(float) +
                            result.costs->blocks.size() * sizeof(BlockRecordPtr);
        }
    }
    enqueue_ms_ += sums.ms();
}

Evaluation StateEvaluator::evaluate_afresh(const EvaluationRequest &request) {
    FeaturizedTree tree;
    tree.rejection = check_structure(*request.tree);
    if (!tree.rejection) {
        featurize_whole(request, tree);
    }
    if (tree.rejection) {
        return {nullptr, tree.rejection};
    }
    const std::vector<StageRow> rows = tree.other_rows;
    const std::vector<float> costs = model_.predict(rows);
    return finish(tree, rows.data(), costs.data(), rows.size());
}

std::vector<float> StateEvaluator::predict(const std::vector<StageRow> &rows) {
    const Stopwatch stopwatch;
    constexpr size_t kPerTask = 256;
    const size_t num_tasks = (rows.size() + kPerTask - 1) / kPerTask;
    std::vector<float> costs(rows.size());
    pool_.parallel_for(static_cast<int64_t>(num_tasks), [&](int64_t n) {
        const size_t first = static_cast<size_t>(n) * kPerTask;
        const size_t end = std::min(first + kPerTask, rows.size());
        const std::vector<float> part = model_.predict({rows.data() + first, rows.data() + end});
        ANDERSON_CHECK(part.size() == end - first) << "The cost model lost rows";
        std::copy(part.begin(), part.end(), costs.begin() + static_cast<ptrdiff_t>(first));
    });
    cost_model_ms_ += stopwatch.ms();
    return costs;
}

void StateEvaluator::note(const Rejection &rejection, int64_t count) {
    ANDERSON_LOG(2) << "Rejected by " << rejection.rule << ": " << rejection.value
                    << " against a limit of " << rejection.limit;
    rejections_.add(rejection, count);
}

RejectionTally StateEvaluator::take_rejections() {
    return std::exchange(rejections_, RejectionTally());
}

void StateEvaluator::trim(size_t max_bytes) {
    if (known_bytes_ > max_bytes) {
        forget_trees();
    }
}

}  // namespace anderson2021
