#include "search/state_evaluator.h"

#include <cmath>
#include <utility>

#include "search/depth_hash.h"
#include "search/stopwatch.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

uint64_t hash_request(const EvaluationRequest &request) {
    uint64_t hash = full_hash(*request.tree);
    for (const uint64_t word : request.always_inline->words()) {
        hash_combine(hash, word);
    }
    return hash;
}

// Narrows a row to what the network reads; false if it contains something that is no number.
bool narrow_row(const ScheduleFeatures &features, int position, StageRow &row) {
    row.position = position;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        row.features[i] = static_cast<float>(features[i]);
        if (!std::isfinite(row.features[i])) {
            return false;
        }
    }
    return true;
}

}  // namespace

StateEvaluator::StateEvaluator(const Featurizer &featurizer,
                               CostModel &model,
                               const PruneContext &context,
                               ThreadPool &pool)
    : featurizer_(featurizer), model_(model), context_(context), pool_(pool), row_costs_(model) {}

std::optional<Rejection> StateEvaluator::check_structure(const LoopNest &tree) const {
    for (const auto &pruner : structural_pruners()) {
        if (std::optional<Rejection> rejection = pruner->reject(tree, context_)) {
            return rejection;
        }
    }
    return std::nullopt;
}

FeaturizedTree StateEvaluator::featurize(const EvaluationRequest &request) const {
    FeaturizedTree result;
    result.rejection = check_structure(*request.tree);
    if (result.rejection) {
        return result;
    }
    const Featurization featurization = featurizer_.featurize(request.tree);
    if (featurization.unpromotable_func) {
        result.rejection =
            Rejection{"register-promotion",
                      0,
                      static_cast<double>(context_.device.register_allocation_bytes)};
        return result;
    }
    PruneContext context = context_;
    context.always_consider_inline = request.always_inline.get();
    for (const auto &pruner : feature_pruners()) {
        result.rejection = pruner->reject(*request.tree, featurization.features, context);
        if (result.rejection) {
            return result;
        }
    }
    const std::vector<int> &order = context_.graph.record_order();
    for (size_t position = 0; position < order.size(); position++) {
        if (!featurization.features.has(order[position])) {
            continue;
        }
        const ScheduleFeatures &features = featurization.features.row(order[position]);
        result.root_working_set = features.working_set_at_root;
        result.rows.emplace_back();
        if (!narrow_row(features, static_cast<int>(position), result.rows.back())) {
            result.rejection = Rejection{"non-finite-feature", 0, 0};
            return result;
        }
    }
    return result;
}

Evaluation StateEvaluator::finish(const FeaturizedTree &tree, const float *costs) const {
    StateCosts result;
    result.per_stage.resize(context_.graph.record_order().size());
    result.root_working_set = tree.root_working_set;
    for (size_t i = 0; i < tree.rows.size(); i++) {
        if (!std::isfinite(costs[i])) {
            return {nullptr, Rejection{"non-finite-cost", static_cast<double>(costs[i]), 0}};
        }
        result.per_stage[static_cast<size_t>(tree.rows[i].position)] = costs[i];
    }
    result.sum_up();
    return {std::make_shared<const StateCosts>(std::move(result)), std::nullopt};
}

const StateEvaluator::KnownTree *StateEvaluator::find_known(const EvaluationRequest &request,
                                                            uint64_t hash) const {
    const auto bucket = known_.find(hash);
    if (bucket == known_.end()) {
        return nullptr;
    }
    for (const KnownTree &known : bucket->second) {
        if (known.tree->same_structure(*request.tree) &&
            known.always_inline->words() == request.always_inline->words()) {
            return &known;
        }
    }
    return nullptr;
}

std::vector<Evaluation> StateEvaluator::evaluate(const std::vector<EvaluationRequest> &requests) {
    // Trees that occur twice in the batch are evaluated once: the first enters a placeholder.
    std::vector<uint64_t> hashes;
    std::vector<size_t> fresh;
    for (size_t i = 0; i < requests.size(); i++) {
        hashes.push_back(hash_request(requests[i]));
        if (find_known(requests[i], hashes[i]) == nullptr) {
            known_[hashes[i]].push_back({requests[i].tree, requests[i].always_inline, {}});
            num_known_++;
            fresh.push_back(i);
        }
    }

    const Stopwatch featurization;
    std::vector<FeaturizedTree> featurized(fresh.size());
    pool_.parallel_for(static_cast<int64_t>(fresh.size()), [&](int64_t n) {
        const auto i = static_cast<size_t>(n);
        featurized[i] = featurize(requests[fresh[i]]);
    });
    featurization_ms_ += featurization.ms();

    const Stopwatch feature_write;
    std::vector<StageRow> rows;
    for (const FeaturizedTree &tree : featurized) {
        if (!tree.rejection) {
            rows.insert(rows.end(), tree.rows.begin(), tree.rows.end());
        }
    }
    feature_write_ms_ += feature_write.ms();
    const Stopwatch lookup;
    const std::vector<float> costs = row_costs_.costs(rows);
    lookup_ms_ += lookup.ms();

    size_t next_row = 0;
    for (size_t i = 0; i < fresh.size(); i++) {
        Evaluation result;
        result.rejection = featurized[i].rejection;
        if (!result.rejection) {
            num_evaluated_++;
            result = finish(featurized[i], costs.data() + next_row);
            next_row += featurized[i].rows.size();
        }
        for (KnownTree &known : known_[hashes[fresh[i]]]) {
            if (known.tree == requests[fresh[i]].tree &&
                known.always_inline == requests[fresh[i]].always_inline) {
                known.result = result;
            }
        }
    }

    std::vector<Evaluation> results;
    for (size_t i = 0; i < requests.size(); i++) {
        results.push_back(find_known(requests[i], hashes[i])->result);
        if (results.back().rejection) {
            note(*results.back().rejection);
        }
    }
    return results;
}

Evaluation StateEvaluator::evaluate_afresh(const EvaluationRequest &request) {
    const FeaturizedTree tree = featurize(request);
    if (tree.rejection) {
        return {nullptr, tree.rejection};
    }
    const std::vector<float> costs = model_.predict(tree.rows);
    return finish(tree, costs.data());
}

std::vector<float> StateEvaluator::predict(const std::vector<StageRow> &rows) {
    const Stopwatch stopwatch;
    std::vector<float> costs = model_.predict(rows);
    loose_rows_ms_ += stopwatch.ms();
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

void StateEvaluator::trim(size_t limit) {
    if (num_known_ > limit) {
        known_.clear();
        num_known_ = 0;
    }
}

}  // namespace anderson2021
