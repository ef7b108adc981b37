// The cost model's network for training: predictions, losses and gradients of many schedules at
// once, for any loss that is a function of coefficients and predictions.
//
// Sixteen schedules of one pipeline make a unit and are computed side by side, one per vector lane.
// Every sum has a fixed order, so results depend neither on the instruction set nor on threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/weights.h"
#include "features/schedule_features.h"

namespace anderson2021 {

/// Schedules per unit.
constexpr int kLanes = 16;

/// What the network sees of an algorithm: per stage the counts that are not zero.
struct SparseAlgorithm {
    struct Entry {
        /// In head1_filter, without the channel: kind + 40 x type.
        uint16_t index = 0;
        float count = 0;
    };
    std::vector<std::vector<Entry>> stages;

    /// @param records  num_stages x 287 counts, as in samples
    static SparseAlgorithm from_records(const std::vector<float> &records, int num_stages);
    int num_stages() const { return static_cast<int>(stages.size()); }
};

/// Up to 16 schedules of one pipeline, ready for the network. Lanes beyond `count` repeat lane 0.
struct Unit {
    const SparseAlgorithm *algorithm = nullptr;
    int count = 0;
    /// [stage][feature][lane]: ln(feature + 1), shifted and scaled where inputs are standardized.
    std::vector<float> inputs;
    /// [stage][coefficient][lane]: multipliers of the cost terms, in ms.
    std::vector<float> multipliers;
    /// ms; the fastest one of the batch that the unit belongs to is `fastest`.
    std::array<float, kLanes> runtimes{};
    float fastest = 1;
    /// [stage][coefficient][lane]: what the coefficients should be. Empty: only run times matter.
    std::vector<float> targets;

    int num_stages() const { return algorithm->num_stages(); }
};

/// Fills inputs (not standardized) and multipliers. `schedules` are the features of each schedule,
/// num_stages x 73 each; at most 16.
Unit make_unit(const SparseAlgorithm &algorithm,
               const std::vector<const float *> &schedules,
               int num_cores);

enum class LossKind {
    /// Squared errors of throughputs relative to the fastest schedule, as the known trainer has it.
    Throughput,
    /// Squared logarithms of prediction over run time.
    Log,
    /// Errors of every cost term relative to the cost of stage and schedule, and relative errors of
    /// the predictions: for learning from another network, whose coefficients are known.
    Terms,
    /// Errors of the coefficients times the multipliers, which are then weights of the errors: for
    /// learning from another network whatever the terms amount to. Run times do not matter.
    Coefficients,
};

struct LossSpec {
    LossKind kind = LossKind::Throughput;
    /// Weight of the predictions in Terms.
    float log_weight = 1;
};

/// Which coefficients a cost term reads.
std::array<bool, kConv1Channels> used_coefficients();

struct UnitResult {
    /// Sum over the schedules.
    double loss = 0;
    std::array<float, kLanes> predictions{};
};

/// Evaluates a unit. With `gradient` its gradient is added there. With `stage_costs`
/// ([stage][lane]) costs are stored there, with `coefficients` ([stage][coefficient][lane]) these.
class Network {
public:
    explicit Network(const Weights &weights);

    UnitResult predict(const Unit &unit,
                       std::vector<float> *stage_costs = nullptr,
                       std::vector<float> *coefficients = nullptr) const;
    UnitResult evaluate(const Unit &unit, const LossSpec &spec, Weights *gradient) const;

private:
    struct Activations;
    void forward(const Unit &unit, Activations &result) const;
    void
    embed(const std::vector<SparseAlgorithm::Entry> &entries, float *head1, float *trunk) const;
    void backward_algorithm(const std::vector<SparseAlgorithm::Entry> &entries,
                            const float *head1,
                            const float *trunk_gradient,
                            Weights &gradient) const;

    const Weights &weights_;
    /// Logistic function of head1_filter.
    std::vector<float> squashed_;
};

}  // namespace anderson2021
