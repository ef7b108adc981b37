// Learns from another network on made-up stages, coefficient by coefficient.
//
// Student and teacher have the same shape, so the student can become nearly as good as the teacher
// if it sees enough of what is possible, which the stages of a StageMixer are. Errors are relative
// to the size that a coefficient has on average. Everything needed to go on after a kill is in the
// state, which is small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/weights.h"
#include "support/thread_pool.h"
#include "training/coordinates.h"
#include "training/optimizer.h"
#include "training/stage_mixer.h"

namespace anderson2021 {

struct DistillerOptions {
    int64_t steps = 5000;
    /// Groups of 16 schedules of a stage in one step.
    int64_t units_per_step = 256;
    /// Rises from 0 in `warm_up` steps, and falls along half a cosine to a thousandth.
    double rate = 0.02;
    int64_t warm_up = 300;
    /// How much more an error counts in stages as they are in pipelines, for what its term has to
    /// do with the cost of the stage. Matters where the student cannot be right everywhere.
    double cost_weight = 0;
    int64_t seed = 0;

    /// Hash of all that decides on the outcome.
    uint64_t fingerprint() const;
};

class Distiller {
public:
    /// The mixer has to outlive this. Without `initial` weights they start at random. Units whose
    /// mean coefficients are learnt come from all teachers, of which there is at least one.
    Distiller(const StageMixer &mixer,
              const std::vector<Weights> &teachers,
              const Weights *initial,
              const DistillerOptions &options,
              ThreadPool &pool);
    ~Distiller();

    int64_t steps_done() const { return steps_done_; }
    bool finished() const { return steps_done_ >= options_.steps; }
    /// Goes at most so many steps; returns the mean loss per schedule and stage.
    double run(int64_t steps);
    /// Of the next step.
    double rate() const;
    /// Root mean square over all coefficients in use of the error relative to the coefficient's
    /// size, on units that are not trained on.
    double held_out_error() const;

    Weights result() const { return coordinates_.to_plain(inner_); }

    /// Everything needed to go on. The hash stands for samples, teachers and options.
    std::vector<uint8_t> save_state(uint64_t hash) const;
    /// Empty string, or the reason why the state cannot be used; nothing is changed then.
    std::string load_state(const std::vector<uint8_t> &bytes, uint64_t hash);

private:
    struct Slot;
    void make_unit(uint64_t number, MixedUnit &unit) const;
    double step();

    const StageMixer &mixer_;
    const std::vector<Weights> teacher_weights_;
    std::vector<Network> teachers_;
    const DistillerOptions options_;
    ThreadPool &pool_;
    Coordinates coordinates_;
    std::array<float, kConv1Channels> factors_{};
    Weights inner_;
    OptimizerState optimizer_;
    int64_t steps_done_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace anderson2021
