// Two generations of entries bound the memory: when the young one is full, it becomes the old one
// and what was old is forgotten. Rows found in the old generation move to the young one.
#include "costmodel/caching_cost_model.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"
#include "support/hash.h"

namespace anderson2021 {

namespace {

uint64_t hash_row(const StageRow &row) {
    uint64_t hash = static_cast<uint64_t>(row.position);
    // Two features at a time; the odd one goes in with the position.
    uint32_t last;
    memcpy(&last, row.features + kNumScheduleFeatures - 1, sizeof(last));
    hash_combine(hash, last);
    for (int i = 0; i + 1 < kNumScheduleFeatures; i += 2) {
        uint64_t pair;
        memcpy(&pair, row.features + i, sizeof(pair));
        hash_combine(hash, pair);
    }
    return hash;
}

bool same_row(const StageRow &a, const StageRow &b) {
    return a.position == b.position && memcmp(a.features, b.features, sizeof(a.features)) == 0;
}

struct Entry {
    StageRow row;
    float cost;
    /// Index among the rows being predicted, while the cost is not known yet.
    int pending;
};
constexpr int kNotPending = -1;

// An open-addressing table of a fixed number of entries, which are allocated as they come.
class Generation {
public:
    explicit Generation(size_t capacity) : capacity_(capacity) {
        size_t slots = 16;
        while (slots < 2 * capacity) {
            slots *= 2;
        }
        slots_.assign(slots, kEmpty);
    }

    bool full() const { return entries_.size() == capacity_; }
    void clear() {
        entries_.clear();
        std::fill(slots_.begin(), slots_.end(), kEmpty);
    }
    Entry *find(const StageRow &row, uint64_t hash) {
        const uint32_t slot = slots_[slot_of(row, hash)];
        return slot == kEmpty ? nullptr : &entries_[slot];
    }
    /// The row must not be there yet, and there must be room.
    void insert(const Entry &entry, uint64_t hash) {
        slots_[slot_of(entry.row, hash)] = static_cast<uint32_t>(entries_.size());
        entries_.push_back(entry);
    }

private:
    static constexpr uint32_t kEmpty = UINT32_MAX;
    size_t capacity_;
    std::vector<uint32_t> slots_;
    std::vector<Entry> entries_;

    // Where the row is, or the empty slot where it would go.
    size_t slot_of(const StageRow &row, uint64_t hash) const {
        const size_t mask = slots_.size() - 1;
        size_t at = static_cast<size_t>(hash) & mask;
        while (slots_[at] != kEmpty && !same_row(entries_[slots_[at]].row, row)) {
            at = (at + 1) & mask;
        }
        return at;
    }
};

class Cache : public CachingCostModel {
public:
    Cache(std::unique_ptr<CostModel> inner, size_t capacity)
        : inner_(std::move(inner)), young_(capacity / 2), old_(capacity / 2) {
        ANDERSON_CHECK(capacity >= 2 && capacity < UINT32_MAX) << "capacity " << capacity;
    }

    Statistics statistics() const override { return statistics_; }

    void begin(const AlgorithmInputs &inputs) override {
        clear();
        inner_->begin(inputs);
    }

    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        std::vector<float> costs(rows.size());
        std::vector<int> sources(rows.size(), kNotPending);
        missing_.clear();
        missing_hashes_.clear();
        for (size_t i = 0; i < rows.size(); i++) {
            const Entry entry = look_up(rows[i]);
            costs[i] = entry.cost;
            sources[i] = entry.pending;
        }
        statistics_.rows += rows.size();
        statistics_.hits += rows.size() - missing_.size();
        if (missing_.empty()) {
            return costs;
        }
        const std::vector<float> predicted = predict_missing();
        for (size_t i = 0; i < rows.size(); i++) {
            if (sources[i] != kNotPending) {
                costs[i] = predicted[static_cast<size_t>(sources[i])];
            }
        }
        return costs;
    }

private:
    std::unique_ptr<CostModel> inner_;
    Generation young_, old_;
    Statistics statistics_;
    /// Rows of the current call that have to be predicted.
    std::vector<StageRow> missing_;
    std::vector<uint64_t> missing_hashes_;

    void clear() {
        young_.clear();
        old_.clear();
    }

    void insert(const Entry &entry, uint64_t hash) {
        if (young_.full()) {
            std::swap(young_, old_);
            young_.clear();
        }
        young_.insert(entry, hash);
    }

    // The row's entry; a new, pending one if it is unknown.
    Entry look_up(const StageRow &row) {
        const uint64_t hash = hash_row(row);
        if (const Entry *found = young_.find(row, hash)) {
            return *found;
        }
        if (const Entry *found = old_.find(row, hash)) {
            const Entry entry = *found;
            insert(entry, hash);
            return entry;
        }
        const Entry entry{row, 0.0f, static_cast<int>(missing_.size())};
        missing_.push_back(row);
        missing_hashes_.push_back(hash);
        insert(entry, hash);
        return entry;
    }

    // Predicts the missing rows and completes those of their entries that are still there.
    std::vector<float> predict_missing() {
        std::vector<float> predicted;
        try {
            predicted = inner_->predict(missing_);
        } catch (...) {
            clear();  // no entry may stay pending
            throw;
        }
        for (size_t i = 0; i < missing_.size(); i++) {
            for (Generation *generation : {&young_, &old_}) {
                if (Entry *entry = generation->find(missing_[i], missing_hashes_[i])) {
                    entry->cost = predicted[i];
                    entry->pending = kNotPending;
                }
            }
        }
        return predicted;
    }
};

}  // namespace

std::unique_ptr<CachingCostModel> make_caching_cost_model(std::unique_ptr<CostModel> inner,
                                                          size_t capacity) {
    return std::make_unique<Cache>(std::move(inner), capacity);
}

}  // namespace anderson2021
