#include "search/row_cost_cache.h"

#include <cstring>

#include "search/stopwatch.h"
#include "support/error.h"
#include "support/hash.h"

namespace anderson2021 {

namespace {

uint64_t hash_row(const StageRow &row) {
    uint64_t hash = static_cast<uint64_t>(row.position);
    for (int i = 0; i < kNumScheduleFeatures; i += 2) {
        uint32_t bits[2] = {0, 0};
        std::memcpy(&bits[0], &row.features[i], sizeof(float));
        if (i + 1 < kNumScheduleFeatures) {
            std::memcpy(&bits[1], &row.features[i + 1], sizeof(float));
        }
        hash_combine(hash, (static_cast<uint64_t>(bits[1]) << 32) | bits[0]);
    }
    return hash;
}

bool same_row(const StageRow &a, const StageRow &b) {
    return a.position == b.position && std::memcmp(a.features, b.features, sizeof(a.features)) == 0;
}

}  // namespace

uint32_t RowCostCache::find(const StageRow &row, uint64_t hash) const {
    const auto head = first_.find(hash);
    uint32_t at = head == first_.end() ? kNone : head->second;
    while (at != kNone && !same_row(rows_[at], row)) {
        at = next_[at];
    }
    return at;
}

std::vector<float> RowCostCache::costs(const std::vector<StageRow> &rows) {
    if (rows_.size() + rows.size() > capacity_) {
        rows_.clear();
        costs_.clear();
        first_.clear();
        next_.clear();
    }
    const size_t num_known = rows_.size();
    std::vector<uint32_t> index;
    index.reserve(rows.size());
    for (const StageRow &row : rows) {
        const uint64_t hash = hash_row(row);
        uint32_t at = find(row, hash);
        if (at == kNone) {
            at = static_cast<uint32_t>(rows_.size());
            rows_.push_back(row);
            const auto head = first_.emplace(hash, kNone).first;
            next_.push_back(head->second);
            head->second = at;
        } else {
            hits_++;
        }
        index.push_back(at);
    }

    const std::vector<StageRow> unknown(rows_.begin() + static_cast<ptrdiff_t>(num_known),
                                        rows_.end());
    misses_ += static_cast<int64_t>(unknown.size());
    if (!unknown.empty()) {
        const Stopwatch stopwatch;
        const std::vector<float> predicted = model_.predict(unknown);
        model_ms_ += stopwatch.ms();
        ANDERSON_CHECK(predicted.size() == unknown.size()) << "The cost model lost rows";
        costs_.insert(costs_.end(), predicted.begin(), predicted.end());
    }
    std::vector<float> result;
    result.reserve(rows.size());
    for (const uint32_t at : index) {
        result.push_back(costs_[at]);
    }
    return result;
}

}  // namespace anderson2021
