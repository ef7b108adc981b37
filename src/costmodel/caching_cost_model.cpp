// Two generations of entries bound the memory: when the young one is full, it becomes the old one
// and what was old is forgotten. Rows found in the old generation move to the young one.
#include "costmodel/caching_cost_model.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "support/error.h"
#include "support/hash.h"

namespace anderson2021 {

namespace {

// Four independent chains, two features at a time, because one would wait for its multiplications.
uint64_t hash_row(const StageRow &row) {
    constexpr size_t num_chains = 4, num_rounds = kNumScheduleFeatures / (2 * num_chains);
    static_assert(kNumScheduleFeatures == 2 * num_chains * num_rounds + 1,
                  "one feature is left over");
    constexpr uint64_t factor = 0x9e3779b97f4a7c15ull;
    uint32_t last;
    memcpy(&last, row.features + kNumScheduleFeatures - 1, sizeof(last));
    uint64_t chains[num_chains] = {last, static_cast<uint64_t>(row.position), 1, 2};
    for (size_t round = 0; round < num_rounds; round++) {
        for (size_t chain = 0; chain < num_chains; chain++) {
            uint64_t pair;
            memcpy(&pair, &row.features[2 * (round * num_chains + chain)], sizeof(pair));
            chains[chain] = (chains[chain] ^ pair) * factor;
            chains[chain] ^= chains[chain] >> 32;
        }
    }
    uint64_t hash = 0;
    for (const uint64_t chain : chains) {
        hash_combine(hash, chain);
    }
    return hash;
}

bool same_row(const StageRow &a, const StageRow &b) {
    // Bits are what the results have to agree in, so they are what is compared.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): 0 and -0 count as different
    return a.position == b.position && memcmp(a.features, b.features, sizeof(a.features)) == 0;
}

struct Entry {
    StageRow row;
    float cost;
    /// Index among the rows being predicted, while the cost is not known yet.
    int pending;
};
constexpr int kNotPending = -1;

// An open-addressing table for a fixed number of entries.
class Generation {
public:
    explicit Generation(size_t capacity) : capacity_(capacity) {
        size_t slots = 16;
        while (slots < 2 * capacity) {
            slots *= 2;
        }
        slots_.assign(slots, kEmpty);
        entries_.reserve(capacity);  // memory that is not touched costs nothing
    }

    bool full() const { return entries_.size() == capacity_; }
    /// Tells a generation from those before and after it.
    uint64_t serial() const { return serial_; }
    size_t size() const { return entries_.size(); }
    Entry &entry(size_t index) { return entries_[index]; }

    void restart(uint64_t serial) {
        serial_ = serial;
        entries_.clear();
        std::fill(slots_.begin(), slots_.end(), kEmpty);
    }
    const Entry *find(const StageRow &row, uint64_t hash) const {
        const uint32_t index = slots_[slot_of(row, hash)];
        return index == kEmpty ? nullptr : &entries_[index];
    }
    /// The row must not be there yet, and there must be room.
    void insert(const Entry &entry, uint64_t hash) {
        slots_[slot_of(entry.row, hash)] = static_cast<uint32_t>(entries_.size());
        entries_.push_back(entry);
    }

private:
    static constexpr uint32_t kEmpty = UINT32_MAX;
    size_t capacity_;
    uint64_t serial_ = 0;
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
        clear();
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
        pending_.clear();
        for (size_t i = 0; i < rows.size(); i++) {
            std::tie(costs[i], sources[i]) = look_up(rows[i]);
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
    // An entry that waits for its cost, unless its generation is gone by then.
    struct Place {
        uint64_t serial;
        size_t index;
        int missing;
    };

    std::unique_ptr<CostModel> inner_;
    Generation young_, old_;
    Statistics statistics_;
    uint64_t last_serial_ = 0;
    /// Rows of the current call that have to be predicted.
    std::vector<StageRow> missing_;
    std::vector<Place> pending_;

    void clear() {
        young_.restart(++last_serial_);
        old_.restart(++last_serial_);
    }

    void insert(const Entry &entry, uint64_t hash) {
        if (young_.full()) {
            std::swap(young_, old_);
            young_.restart(++last_serial_);
        }
        if (entry.pending != kNotPending) {
            pending_.push_back({young_.serial(), young_.size(), entry.pending});
        }
        young_.insert(entry, hash);
    }

    // The row's cost, or the index of the missing row that it is to be taken from.
    std::pair<float, int> look_up(const StageRow &row) {
        const uint64_t hash = hash_row(row);
        if (const Entry *found = young_.find(row, hash)) {
            return {found->cost, found->pending};
        }
        Entry entry{row, 0.0f, static_cast<int>(missing_.size())};
        if (const Entry *found = old_.find(row, hash)) {
            entry = *found;
        } else {
            missing_.push_back(row);
        }
        insert(entry, hash);
        return {entry.cost, entry.pending};
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
        for (const Place &place : pending_) {
            for (Generation *generation : {&young_, &old_}) {
                if (generation->serial() == place.serial) {
                    Entry &entry = generation->entry(place.index);
                    entry.cost = predicted[static_cast<size_t>(place.missing)];
                    entry.pending = kNotPending;
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
