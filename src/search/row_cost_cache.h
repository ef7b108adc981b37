// Remembers the cost of every feature row that was evaluated. A row's cost depends on nothing else,
// and the schedules of a search repeat the same rows over and over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "costmodel/cost_model.h"

namespace anderson2021 {

class RowCostCache {
public:
    /// Keeps at most `capacity` rows (some 300 bytes each); beyond that it starts afresh.
    explicit RowCostCache(CostModel &model, size_t capacity = 200000)
        : model_(model), capacity_(capacity) {}

    /// Cost of each row, in order. All unknown rows are evaluated in one batch.
    std::vector<float> costs(const std::vector<StageRow> &rows);

    /// Time spent in the model.
    double model_ms() const { return model_ms_; }
    int64_t hits() const { return hits_; }
    int64_t misses() const { return misses_; }

private:
    static constexpr uint32_t kNone = UINT32_MAX;

    // Index of the row in rows_, or kNone.
    uint32_t find(const StageRow &row, uint64_t hash) const;

    CostModel &model_;
    size_t capacity_;
    std::vector<StageRow> rows_;
    std::vector<float> costs_;
    // Rows of equal hash are chained.
    std::unordered_map<uint64_t, uint32_t> first_;
    std::vector<uint32_t> next_;
    double model_ms_ = 0;
    int64_t hits_ = 0;
    int64_t misses_ = 0;
};

}  // namespace anderson2021
