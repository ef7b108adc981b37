#include "training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/error.h"
#include "support/hash.h"
#include "support/rng.h"
#include "training/state_bytes.h"

namespace anderson2021 {

namespace {

constexpr uint32_t kStateMagic = 0x74313261;  // "a21t"
constexpr uint32_t kStateVersion = 1;
// Gradients that a step adds up apart from each other. Fixed, so that sums do not depend on the
// number of threads.
constexpr int64_t kSlots = 8;
constexpr double kLastShareOfRate = 0.01;

uint64_t bits_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

void set_zero(Weights &weights) {
    for (std::vector<float> *buffer : weights.buffers()) {
        std::fill(buffer->begin(), buffer->end(), 0.0f);
    }
}

void add(Weights &sum, const Weights &terms) {
    const auto to = sum.buffers();
    const auto from = terms.buffers();
    for (size_t b = 0; b < to.size(); b++) {
        for (size_t i = 0; i < to[b]->size(); i++) {
            (*to[b])[i] += (*from[b])[i];
        }
    }
}

}  // namespace

uint64_t TrainerOptions::fingerprint() const {
    uint64_t hash = 0;
    hash_combine(hash, static_cast<uint64_t>(epochs));
    for (const double rate : rates) {
        hash_combine(hash, bits_of(rate));
    }
    for (const int64_t value : {static_cast<int64_t>(loss.kind),
                                static_cast<int64_t>(batches_per_step),
                                static_cast<int64_t>(units_per_step),
                                static_cast<int64_t>(mean_loss),
                                static_cast<int64_t>(cosine),
                                static_cast<int64_t>(standardize),
                                static_cast<int64_t>(patience),
                                seed}) {
        hash_combine(hash, static_cast<uint64_t>(value));
    }
    hash_combine(hash, bits_of(static_cast<double>(loss.log_weight)));
    hash_combine(hash, bits_of(clip));
    return hash;
}

Trainer::Trainer(std::vector<Batch> &training,
                 std::vector<Batch> &validation,
                 const TrainerOptions &options,
                 ThreadPool &pool,
                 const Weights &weights,
                 bool random)
    : training_(training), validation_(validation), options_(options), pool_(pool),
      weights_(weights), slots_(kSlots) {
    if (options.standardize) {
        standardizer_ = Standardizer(training);
        standardizer_.apply(training_, pool);
        standardizer_.apply(validation_, pool);
        // Random weights take inputs as they come, and are meant for inputs of this size.
        weights_ = random ? weights : standardizer_.to_standardized(weights);
    }
}

int Trainer::num_epochs() const {
    return options_.epochs * static_cast<int>(options_.rates.size());
}

bool Trainer::finished() const {
    const bool gave_up = options_.patience > 0 && epochs_done_ - best_epoch_ >= options_.patience;
    return epochs_done_ >= num_epochs() || gave_up;
}

double Trainer::rate_of_epoch(int epoch) const {
    const double rate = options_.rates[static_cast<size_t>(epoch / options_.epochs)];
    if (!options_.cosine) {
        return rate;
    }
    const double progress = (epoch % options_.epochs + 0.5) / options_.epochs;
    const double share = 0.5 * (1 + std::cos(progress * 3.14159265358979323846));
    return rate * (kLastShareOfRate + (1 - kLastShareOfRate) * share);
}

std::vector<std::vector<Trainer::Place>> Trainer::whole_batches(std::vector<Batch> &batches) {
    std::vector<std::vector<Place>> steps;
    for (Batch &batch : batches) {
        steps.emplace_back();
        for (size_t u = 0; u < batch.units.size(); u++) {
            steps.back().push_back({&batch, u});
        }
    }
    return steps;
}

// In random order, which depends on the epoch alone, so that a run that is resumed takes the same.
std::vector<std::vector<Trainer::Place>> Trainer::training_steps() {
    std::vector<std::vector<Place>> parts = whole_batches(training_);
    auto per_step = static_cast<size_t>(options_.batches_per_step);
    if (options_.loss.kind != LossKind::Throughput) {
        std::vector<std::vector<Place>> single;
        for (const std::vector<Place> &part : parts) {
            for (const Place &place : part) {
                single.push_back({place});
            }
        }
        parts = std::move(single);
        per_step = static_cast<size_t>(options_.units_per_step);
    }
    Rng rng(options_.seed * 1000003 + epochs_done_);
    rng.shuffle(parts);
    std::vector<std::vector<Place>> steps;
    for (size_t i = 0; i < parts.size(); i++) {
        if (i % per_step == 0) {
            steps.emplace_back();
        }
        steps.back().insert(steps.back().end(), parts[i].begin(), parts[i].end());
    }
    return steps;
}

Trainer::StepResult Trainer::run_step(const std::vector<Place> &places, bool train) {
    const Network network(weights_);
    const auto count = static_cast<int64_t>(places.size());
    const int64_t num_slots = std::min(kSlots, count);
    std::vector<double> losses(static_cast<size_t>(num_slots));
    pool_.parallel_for(num_slots, [&](int64_t slot) {
        const auto s = static_cast<size_t>(slot);
        if (train) {
            set_zero(slots_[s]);
        }
        for (int64_t i = count * slot / num_slots; i < count * (slot + 1) / num_slots; i++) {
            const Place &place = places[static_cast<size_t>(i)];
            const UnitResult result = network.evaluate(
                place.batch->units[place.unit], options_.loss, train ? &slots_[s] : nullptr);
            losses[s] += result.loss;
            std::vector<DatasetEntry> &entries = place.batch->entries();
            const size_t first = place.batch->first + place.unit * kLanes;
            for (int n = 0; n < place.batch->units[place.unit].count; n++) {
                entries[first + static_cast<size_t>(n)].prediction =
                    result.predictions[static_cast<size_t>(n)];
            }
        }
    });
    StepResult result;
    for (const Place &place : places) {
        result.schedules += place.batch->units[place.unit].count;
    }
    for (const double loss : losses) {
        result.loss += loss;
    }
    if (train) {
        for (int64_t s = 1; s < num_slots; s++) {
            add(slots_[0], slots_[static_cast<size_t>(s)]);
        }
        if (options_.mean_loss) {
            for (std::vector<float> *buffer : slots_[0].buffers()) {
                for (float &value : *buffer) {
                    value /= static_cast<float>(result.schedules);
                }
            }
        }
        const auto rate = static_cast<float>(rate_of_epoch(epochs_done_));
        optimizer_step(slots_[0], rate, options_.clip, optimizer_, weights_);
    }
    return result;
}

void Trainer::count_rates(bool validation, EpochReport &report) const {
    OrderingRate &rate = validation ? report.validation : report.training;
    const std::vector<Batch> &batches = validation ? validation_ : training_;
    const DatasetPipeline *last = nullptr;
    for (const Batch &batch : batches) {
        if (batch.pipeline == last) {
            continue;
        }
        last = batch.pipeline;
        std::vector<float> predictions, runtimes;
        for (const DatasetEntry &entry : batch.entries()) {
            predictions.push_back(entry.prediction);
            runtimes.push_back(entry.runtime());
            const auto ratio = static_cast<double>(entry.runtime()) /
                               (static_cast<double>(entry.prediction) + 1e-10);
            if (ratio > report.worst_ratio) {
                report.worst_ratio = ratio;
                report.worst_name = entry.name;
            }
        }
        rate.add(predictions, runtimes);
    }
}

EpochReport Trainer::run_epoch() {
    const auto start = std::chrono::steady_clock::now();
    EpochReport report;
    report.rate = rate_of_epoch(epochs_done_);
    const bool per_batch = options_.loss.kind == LossKind::Throughput;
    double loss = 0, weight = 0;
    for (const std::vector<Place> &places : whole_batches(validation_)) {
        const StepResult step = run_step(places, false);
        loss += step.loss;
        weight += per_batch ? 1.0 : static_cast<double>(step.schedules);
    }
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    report.validation_loss = weight > 0 ? loss / weight : nothing;

    loss = weight = 0;
    for (const std::vector<Place> &places : training_steps()) {
        const StepResult step = run_step(places, true);
        loss += step.loss;
        weight += per_batch ? options_.batches_per_step : static_cast<double>(step.schedules);
    }
    report.training_loss = weight > 0 ? loss / weight : nothing;
    count_rates(false, report);
    count_rates(true, report);

    report.epoch = ++epochs_done_;
    // Rates of few pairs are often equal; then the loss decides.
    const double rate = report.validation.value();
    if (rate > best_rate_ || (rate == best_rate_ && report.validation_loss < best_loss_)) {
        best_rate_ = rate;
        best_loss_ = report.validation_loss;
        best_epoch_ = epochs_done_;
        best_weights_ = weights_;
        report.is_best = true;
    }
    report.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return report;
}

void Trainer::predict() {
    Weights kept = weights_;
    if (options_.patience > 0 && best_epoch_ > 0) {
        weights_ = best_weights_;
    }
    for (std::vector<Batch> *batches : {&training_, &validation_}) {
        for (const std::vector<Place> &places : whole_batches(*batches)) {
            run_step(places, false);
        }
    }
    weights_ = std::move(kept);
}

Weights Trainer::result() const {
    const bool use_best = options_.patience > 0 && best_epoch_ > 0;
    return standardizer_.from_standardized(use_best ? best_weights_ : weights_);
}

std::vector<uint8_t> Trainer::save_state(uint64_t hash) const {
    StateWriter state(kStateMagic, kStateVersion);
    state.add(hash).add(static_cast<uint64_t>(epochs_done_));
    state.add(static_cast<uint64_t>(best_epoch_)).add(best_rate_).add(best_loss_);
    state.add(static_cast<uint64_t>(optimizer_.timestep));
    state.add(weights_).add(best_weights_).add(optimizer_.mean).add(optimizer_.variance);
    return state.finish();
}

std::string Trainer::load_state(const std::vector<uint8_t> &bytes, uint64_t hash) {
    StateReader state(bytes, kStateMagic, kStateVersion);
    const std::string fault = state.fault(save_state(hash).size());
    if (!fault.empty()) {
        return fault;
    }
    if (state.next() != hash) {
        return "it belongs to a run with other samples, options or initial weights";
    }
    epochs_done_ = static_cast<int>(state.next());
    best_epoch_ = static_cast<int>(state.next());
    best_rate_ = state.next_double();
    best_loss_ = state.next_double();
    optimizer_.timestep = static_cast<int64_t>(state.next());
    for (Weights *weights : {&weights_, &best_weights_, &optimizer_.mean, &optimizer_.variance}) {
        state.next(*weights);
    }
    return "";
}

}  // namespace anderson2021
