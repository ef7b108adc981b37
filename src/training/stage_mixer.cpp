#include "training/stage_mixer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "support/error.h"
#include "support/rng.h"

namespace anderson2021 {

namespace {

constexpr size_t kInputs = kNumScheduleFeatures, kL = kLanes;
// Features that stay below this (the logarithm of 1 + 1) are shares, which never exceed 1.
constexpr float kLargestShare = 0.6931472f;
// How far beyond the largest value that was seen a feature may go; a factor of e.
constexpr float kBeyond = 1.0f;
// A feature that hardly varies is shaken a little all the same.
constexpr float kSmallestDeviation = 0.01f;

struct Choice {
    float probability;
    float value;
};

}  // namespace

// Random numbers that are quick to start: every unit has its own.
class StageMixer::Dice {
public:
    Dice(uint64_t seed, uint64_t number) : state_(seed * 0x9e3779b97f4a7c15u) {
        state_ = next() ^ number;
    }

    // SplitMix64.
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    // In [0, n).
    uint32_t below(size_t n) {
        return static_cast<uint32_t>(((next() >> 32) * static_cast<uint64_t>(n)) >> 32);
    }
    // In [0, 1).
    float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
    // Mean 0, variance 1, never beyond 3.5.
    float bell() {
        const uint64_t bits = next();
        float sum = 0;
        for (int shift = 0; shift < 64; shift += 16) {
            sum += static_cast<float>((bits >> shift) & 0xffff);
        }
        return (sum * 0x1p-16f - 2.0f) * 1.7320508f;
    }
    // Probabilities add up to 1.
    template<size_t kCount>
    float choose(const Choice (&choices)[kCount]) {
        float rest = uniform();
        for (const Choice &choice : choices) {
            rest -= choice.probability;
            if (rest < 0) {
                return choice.value;
            }
        }
        return choices[kCount - 1].value;
    }

private:
    uint64_t state_;
};

StageMixer::StageMixer(const Dataset &dataset, const MixerOptions &options) : options_(options) {
    add_rows(dataset);
    find_ranges();
}

void StageMixer::add_rows(const Dataset &dataset) {
    struct Place {
        const DatasetEntry *entry;
        const DatasetPipeline *pipeline;
        int stage;
    };
    std::vector<Place> places;
    for (const auto &pipeline : dataset.pipelines) {
        for (const auto *entries : {&pipeline->training, &pipeline->validation}) {
            for (const DatasetEntry &entry : *entries) {
                for (int stage = 0; stage < pipeline->info.num_stages; stage++) {
                    places.push_back({&entry, pipeline.get(), stage});
                }
            }
        }
    }
    if (places.empty() || options_.rows < 1) {
        throw UserError("There are no stages to learn from");
    }
    Rng rng(options_.seed);
    rng.shuffle(places);
    places.resize(std::min(places.size(), static_cast<size_t>(options_.rows)));

    std::map<std::pair<const DatasetPipeline *, int>, uint32_t> known;
    const SparseAlgorithm any{{{}}};
    for (const Place &place : places) {
        const auto stage = static_cast<size_t>(place.stage);
        const auto [found, is_new] = known.emplace(std::make_pair(place.pipeline, place.stage),
                                                   static_cast<uint32_t>(algorithms_.size()));
        if (is_new) {
            algorithms_.push_back(place.pipeline->algorithm.stages[stage]);
        }
        const Unit unit = make_unit(
            any, {&place.entry->schedule[stage * kInputs]}, cores_of(place.pipeline->info, 0));
        Row row;
        row.algorithm = found->second;
        for (size_t i = 0; i < row.inputs.size(); i++) {
            row.inputs[i] = unit.inputs[i * kL];
        }
        for (size_t c = 0; c < row.multipliers.size(); c++) {
            row.multipliers[c] = unit.multipliers[c * kL];
        }
        rows_.push_back(row);
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row &a, const Row &b) {
        return a.algorithm < b.algorithm;
    });
    for (uint32_t i = 0; i < rows_.size(); i++) {
        if (first_row_.size() <= rows_[i].algorithm) {
            first_row_.push_back(i);
        }
    }
    first_row_.push_back(static_cast<uint32_t>(rows_.size()));
}

void StageMixer::find_ranges() {
    for (size_t i = 0; i < kInputs; i++) {
        double sum = 0, squares = 0;
        smallest_[i] = largest_[i] = rows_.front().inputs[i];
        for (const Row &row : rows_) {
            const auto value = static_cast<double>(row.inputs[i]);
            sum += value;
            squares += value * value;
            smallest_[i] = std::min(smallest_[i], row.inputs[i]);
            largest_[i] = std::max(largest_[i], row.inputs[i]);
        }
        if (largest_[i] > kLargestShare * 1.0001f) {
            largest_[i] += kBeyond;
        }
        const auto count = static_cast<double>(rows_.size());
        const double variance = std::max(0.0, squares / count - sum / count * sum / count);
        deviations_[i] = static_cast<float>(std::sqrt(variance)) + kSmallestDeviation;
    }
}

const StageMixer::Row &StageMixer::any_row(Dice &dice) const {
    return rows_[dice.below(rows_.size())];
}

void StageMixer::mix_algorithm(Dice &dice, uint32_t from, MixedUnit &result) const {
    std::array<float, kNumNetworkFeatures> counts{};
    const auto add = [&](uint32_t algorithm, float times) {
        for (const SparseAlgorithm::Entry &entry : algorithms_[algorithm]) {
            counts[entry.index] += times * entry.count;
        }
    };
    add(from, 1);
    // Two stages in one.
    if (dice.uniform() < 0.4f) {
        add(dice.below(algorithms_.size()), static_cast<float>(1 + dice.below(3)));
    }
    // Operations that were not there, of whatever kind and type.
    const float share = dice.choose({{0.4f, 0}, {0.4f, 0.02f}, {0.2f, 0.08f}});
    for (float &count : counts) {
        if (share > 0 && dice.uniform() < share) {
            count += std::exp(1 + 1.2f * dice.bell());
        }
    }
    const float lost = dice.uniform() < 0.3f ? 0.5f * dice.uniform() : 0.0f;
    const float scale = dice.uniform() < 0.3f ? std::exp(0.7f * dice.bell()) : 1.0f;
    std::vector<SparseAlgorithm::Entry> &entries = result.algorithm.stages.front();
    for (size_t i = 0; i < counts.size(); i++) {
        if (counts[i] != 0 && !(lost > 0 && dice.uniform() < lost)) {
            entries.push_back({static_cast<uint16_t>(i), counts[i] * scale});
        }
    }
}

void StageMixer::mix_schedule(Dice &dice, size_t lane, Unit &unit) const {
    const Features &base = any_row(dice).inputs, &to = any_row(dice).inputs,
                   &from = any_row(dice).inputs, &other = any_row(dice).inputs;
    // All features together, the way that they differ between two schedules.
    const float shift =
        dice.uniform() * dice.choose({{0.4f, 0}, {0.2f, 0.3f}, {0.2f, 0.6f}, {0.2f, 1}});
    // Some features from another schedule.
    const auto exchanged =
        static_cast<uint32_t>(65536 * dice.choose({{0.5f, 0}, {0.25f, 0.1f}, {0.25f, 0.3f}}));
    // Some features by themselves.
    const float force =
        2.45f * dice.choose({{0.25f, 0}, {0.25f, 0.05f}, {0.25f, 0.3f}, {0.25f, 1}});
    const auto shaken =
        static_cast<uint32_t>(65536 * dice.choose({{0.33f, 0.05f}, {0.33f, 0.3f}, {0.34f, 1}}));
    for (size_t i = 0; i < kInputs; i++) {
        const uint64_t bits = dice.next();
        const auto part = [&](int shift_by) {
            return static_cast<uint32_t>(bits >> shift_by) & 0xffff;
        };
        float value = part(0) < exchanged ? other[i] : base[i] + shift * (to[i] - from[i]);
        // A triangle between -1 and 1, of variance 1/6.
        const float triangle = static_cast<float>(part(32) + part(48)) * 0x1p-16f - 1.0f;
        value += part(16) < shaken ? force * triangle * deviations_[i] : 0.0f;
        unit.inputs[i * kL + lane] = std::min(std::max(value, smallest_[i]), largest_[i]);
    }
}

void StageMixer::copy_stage(Dice &dice, MixedUnit &result) const {
    const uint32_t algorithm = any_row(dice).algorithm;
    const uint32_t first = first_row_[algorithm], end = first_row_[algorithm + 1];
    result.algorithm.stages.front() = algorithms_[algorithm];
    for (size_t lane = 0; lane < kL; lane++) {
        const Row &row = rows_[first + dice.below(end - first)];
        for (size_t i = 0; i < kInputs; i++) {
            result.unit.inputs[i * kL + lane] = row.inputs[i];
        }
        for (size_t c = 0; c < row.multipliers.size(); c++) {
            result.unit.multipliers[c * kL + lane] = row.multipliers[c];
        }
    }
}

void StageMixer::make(uint64_t number, MixedUnit &result) const {
    Dice dice(static_cast<uint64_t>(options_.seed), number);
    Unit &unit = result.unit;
    unit.algorithm = &result.algorithm;
    unit.count = kLanes;
    unit.inputs.resize(kInputs * kL);
    unit.multipliers.assign(size_t{kConv1Channels} * kL, 0.0f);
    unit.targets.assign(size_t{kConv1Channels} * kL, 0.0f);
    result.algorithm.stages.resize(1);
    result.algorithm.stages.front().clear();

    if (dice.uniform() < static_cast<float>(options_.unmixed)) {
        return copy_stage(dice, result);
    }
    mix_algorithm(dice, dice.below(algorithms_.size()), result);
    for (size_t lane = 0; lane < kL; lane++) {
        mix_schedule(dice, lane, unit);
    }
}

}  // namespace anderson2021
