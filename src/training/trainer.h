// A training run: epochs over all batches, with everything that is needed to go on after a kill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/thread_pool.h"
#include "training/dataset.h"
#include "training/metrics.h"
#include "training/optimizer.h"
#include "training/standardizer.h"

namespace anderson2021 {

struct TrainerOptions {
    /// Passes over the data for each rate, the rates used one after the other.
    int epochs = 1;
    std::vector<double> rates = {1e-3};
    LossSpec loss;
    /// Batches that make one step together, for Throughput, which compares the schedules of a
    /// batch.
    int batches_per_step = 1;
    /// For other losses: groups of up to 16 schedules, from different batches.
    int units_per_step = 4;
    /// The gradient of a step is that of the mean over its schedules instead of the sum.
    bool mean_loss = false;
    /// Each rate falls along half a cosine to a hundredth of it.
    bool cosine = false;
    bool standardize = false;
    /// Largest norm of the gradient; 0: any.
    double clip = 0;
    /// Epochs without a better held-out rate after which training ends; 0: never.
    int patience = 0;
    int64_t seed = 0;

    /// Hash of all that decides on the outcome.
    uint64_t fingerprint() const;
};

/// What an epoch gave.
struct EpochReport {
    /// Counts all epochs of the run, from 1.
    int epoch = 0;
    double rate = 0;
    /// Mean loss of training and validation schedules; NaN without any. For Throughput: of batches,
    /// as the known trainer prints it.
    double training_loss = 0, validation_loss = 0;
    OrderingRate training, validation;
    /// The schedule whose prediction is furthest below its run time, and the ratio.
    double worst_ratio = 0;
    std::string worst_name;
    double milliseconds = 0;
    /// The best held-out rate so far.
    bool is_best = false;
};

class Trainer {
public:
    /// Fills in and shifts the units of the batches; both sets must outlive this. `random`
    /// weights were not made for any inputs.
    Trainer(std::vector<Batch> &training,
            std::vector<Batch> &validation,
            const TrainerOptions &options,
            ThreadPool &pool,
            const Weights &weights,
            bool random);

    /// All epochs are done, or training has stopped early.
    bool finished() const;
    /// Evaluates the validation set, then trains. Predictions of both sets are stored with the
    /// entries; they are those from before the step that the batch took part in.
    EpochReport run_epoch();
    /// Stores predictions of the present weights with all entries.
    void predict();

    /// Of the last epoch, or of the best one if held-out data decides when to stop.
    Weights result() const;
    int epochs_done() const { return epochs_done_; }
    int num_epochs() const;

    /// Everything needed to go on. The hash stands for data and options.
    std::vector<uint8_t> save_state(uint64_t hash) const;
    /// Empty string, or the reason why the state cannot be used; nothing is changed then.
    std::string load_state(const std::vector<uint8_t> &bytes, uint64_t hash);

private:
    struct StepResult {
        double loss = 0;
        int64_t schedules = 0;
    };
    // A unit of a batch.
    struct Place {
        Batch *batch;
        size_t unit;
    };
    static std::vector<std::vector<Place>> whole_batches(std::vector<Batch> &batches);
    std::vector<std::vector<Place>> training_steps();
    StepResult run_step(const std::vector<Place> &places, bool train);
    double rate_of_epoch(int epoch) const;
    void count_rates(bool validation, EpochReport &report) const;

    std::vector<Batch> &training_, &validation_;
    const TrainerOptions options_;
    ThreadPool &pool_;
    Standardizer standardizer_;
    Weights weights_, best_weights_;
    OptimizerState optimizer_;
    int epochs_done_ = 0, best_epoch_ = 0;
    double best_rate_ = -1, best_loss_ = 0;
    std::vector<Weights> slots_;
};

}  // namespace anderson2021
