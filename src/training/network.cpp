#include "training/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "costmodel/network/cost_terms.h"
#include "support/error.h"
#include "training/lanes.h"

namespace anderson2021 {

namespace {

constexpr size_t kInputs = kNumScheduleFeatures, kTerms = kConv1Channels;
constexpr size_t kHead1 = kHead1Channels, kHead2 = kHead2Channels, kL = kLanes;
constexpr float kSlope = 1e-10f;

struct FloatOps {
    using Value = float;
    static float max(float a, float b) { return std::max(a, b); }
    static float ceil(float a) { return std::ceil(a); }
    static float select(bool condition, float a, float b) { return condition ? a : b; }
};

float leaky(float v) {
    return std::max(v, 0.0f) + kSlope * std::min(v, 0.0f);
}

// At a tie of maximum and minimum both count.
float leaky_slope(float v) {
    return (v >= 0 ? 1.0f : 0.0f) + (v <= 0 ? kSlope : 0.0f);
}

}  // namespace

SparseAlgorithm SparseAlgorithm::from_records(const std::vector<float> &records, int num_stages) {
    constexpr int kPerStage = 7 + kNumNetworkFeatures;
    ANDERSON_CHECK(records.size() == static_cast<size_t>(num_stages * kPerStage));
    SparseAlgorithm result;
    result.stages.resize(static_cast<size_t>(num_stages));
    for (int stage = 0; stage < num_stages; stage++) {
        for (int i = 0; i < kNumNetworkFeatures; i++) {
            const float count = records[static_cast<size_t>(stage * kPerStage + 7 + i)];
            if (count != 0) {
                const int kind = i / kHead1Height, type = i % kHead1Height;
                result.stages[static_cast<size_t>(stage)].push_back(
                    {static_cast<uint16_t>(kind + kHead1Width * type), count});
            }
        }
    }
    return result;
}

Unit make_unit(const SparseAlgorithm &algorithm,
               const std::vector<const float *> &schedules,
               int num_cores) {
    ANDERSON_CHECK(!schedules.empty() && schedules.size() <= kL && num_cores > 0);
    const auto stages = static_cast<size_t>(algorithm.num_stages());
    Unit unit;
    unit.algorithm = &algorithm;
    unit.count = static_cast<int>(schedules.size());
    unit.inputs.resize(stages * kInputs * kL);
    unit.multipliers.resize(stages * kTerms * kL);
    for (size_t lane = 0; lane < kL; lane++) {
        const float *schedule = schedules[lane < schedules.size() ? lane : 0];
        for (size_t w = 0; w < stages; w++) {
            const float *row = schedule + w * kInputs;
            for (size_t s = 0; s < kInputs; s++) {
                unit.inputs[(w * kInputs + s) * kL + lane] = std::log1p(row[s]);
            }
            const auto f = [&](int i) { return row[i]; };
            for (const auto &term : cost_terms<FloatOps>(f, static_cast<float>(num_cores))) {
                const auto c = static_cast<size_t>(term.coefficient);
                unit.multipliers[(w * kTerms + c) * kL + lane] =
                    term.multiplier * kMillisecondsPerUnit;
            }
        }
    }
    return unit;
}

std::array<bool, kTerms> used_coefficients() {
    std::array<bool, kTerms> used{};
    for (const auto &term : cost_terms<FloatOps>([](int) { return 1.0f; }, 1.0f)) {
        used[static_cast<size_t>(term.coefficient)] = true;
    }
    return used;
}

// What the forward pass leaves for the backward one.
struct Network::Activations {
    // [stage][channel][lane]
    std::vector<float> head2, preactivations;
    // [stage][channel]
    std::vector<float> head1;
    // [stage][lane]
    std::vector<float> stage_costs;
    std::array<float, kLanes> predictions{};
};

Network::Network(const Weights &weights) : weights_(weights), squashed_(weights.head1_filter) {
    for (float &value : squashed_) {
        value = 1.0f / (1.0f + std::exp(-value));
    }
}

// Embedding of the algorithm and its share of the preactivations.
void Network::embed(const std::vector<SparseAlgorithm::Entry> &entries,
                    float *head1,
                    float *trunk) const {
    std::copy(weights_.head1_bias.begin(), weights_.head1_bias.end(), head1);
    for (const SparseAlgorithm::Entry &entry : entries) {
        const float *filter = squashed_.data() + size_t{entry.index} * kHead1;
        for (size_t k = 0; k < kHead1; k++) {
            head1[k] += filter[k] * entry.count;
        }
    }
    std::copy(weights_.conv1_bias.begin(), weights_.conv1_bias.end(), trunk);
    for (size_t k = 0; k < kHead1; k++) {
        const float *filter = weights_.conv1_filter.data() + k * kTerms;
        for (size_t c = 0; c < kTerms; c++) {
            trunk[c] += filter[c] * head1[k];
        }
    }
}

void Network::forward(const Unit &unit, Activations &result) const {
    const auto stages = static_cast<size_t>(unit.num_stages());
    result.head1.resize(stages * kHead1);
    result.head2.resize(stages * kHead2 * kL);
    result.preactivations.resize(stages * kTerms * kL);
    result.stage_costs.resize(stages * kL);
    result.predictions.fill(0);
    float trunk[kTerms];
    for (size_t w = 0; w < stages; w++) {
        embed(unit.algorithm->stages[w], result.head1.data() + w * kHead1, trunk);
        lanes_forward({weights_.head2_filter.data(),
                       weights_.head2_bias.data(),
                       weights_.conv1_filter.data() + kHead1 * kTerms,
                       trunk,
                       unit.inputs.data() + w * kInputs * kL},
                      result.head2.data() + w * kHead2 * kL,
                      result.preactivations.data() + w * kTerms * kL);
        for (size_t lane = 0; lane < kL; lane++) {
            float cost = 0;
            for (size_t c = 0; c < kTerms; c++) {
                const size_t i = (w * kTerms + c) * kL + lane;
                cost += leaky(result.preactivations[i]) * unit.multipliers[i];
            }
            result.stage_costs[w * kL + lane] = cost;
            result.predictions[lane] += cost;
        }
    }
}

UnitResult Network::predict(const Unit &unit,
                            std::vector<float> *stage_costs,
                            std::vector<float> *coefficients) const {
    Activations activations;
    forward(unit, activations);
    if (stage_costs != nullptr) {
        *stage_costs = activations.stage_costs;
    }
    if (coefficients != nullptr) {
        *coefficients = activations.preactivations;
        for (float &value : *coefficients) {
            value = leaky(value);
        }
    }
    return {0, activations.predictions};
}

namespace {

constexpr float kRegularization = 1e-5f;
constexpr float kSmallestRelative = 1e-10f;
// Predictions this much below the run time are as wrong as can be told.
constexpr float kSmallestShare = 1e-3f;
// A coefficient that is off but should not be is drawn up with this slope.
constexpr float kRevival = 1.0f;

// Loss of one schedule and its derivative by the prediction.
struct PredictionLoss {
    double loss = 0;
    float slope = 0;
};

PredictionLoss throughput_loss(float prediction, float runtime, float fastest) {
    const float scale = 1.0f / fastest, p = prediction * scale, r = runtime * scale;
    const float clamped = std::max(p, kSmallestRelative);
    const float error = 1.0f / clamped - 1.0f / r;
    const float slope = p < kSmallestRelative ? 0.0f : -2.0f * scale * error / (clamped * clamped);
    return {static_cast<double>(error) * static_cast<double>(error), slope};
}

PredictionLoss log_loss(float prediction, float runtime) {
    const float clamped = std::max(prediction, kSmallestShare * runtime);
    const float error = std::log(clamped / runtime);
    return {static_cast<double>(error) * static_cast<double>(error), 2.0f * error / clamped};
}

// Like the square of the logarithm near and above the run time; below, where that gets ever steeper
// although there is less and less to gain, the square of the relative error.
PredictionLoss relative_loss(float prediction, float runtime) {
    if (prediction > runtime) {
        return log_loss(prediction, runtime);
    }
    const float error = prediction / runtime - 1.0f;
    return {static_cast<double>(error) * static_cast<double>(error), 2.0f * error / runtime};
}

// Turns preactivations into derivatives by them, in place.
class LossGradient {
public:
    LossGradient(const Unit &unit, const LossSpec &spec, const std::array<float, kLanes> &predicted)
        : unit_(unit), spec_(spec) {
        if (spec.kind == LossKind::Coefficients) {
            return;
        }
        for (int n = 0; n < unit.count; n++) {
            const auto lane = static_cast<size_t>(n);
            PredictionLoss loss;
            if (spec.kind == LossKind::Throughput) {
                loss = throughput_loss(predicted[lane], unit.runtimes[lane], unit.fastest);
            } else if (spec.kind == LossKind::Log) {
                loss = log_loss(predicted[lane], unit.runtimes[lane]);
            } else {
                loss = relative_loss(predicted[lane], unit.runtimes[lane]);
                loss.loss *= static_cast<double>(spec.log_weight);
                loss.slope *= spec.log_weight;
            }
            loss_ += loss.loss;
            slopes_[lane] = loss.slope;
        }
    }

    void apply(size_t stage, float *values) {
        const float *multipliers = unit_.multipliers.data() + stage * kTerms * kL;
        const float *targets = unit_.targets.data() + stage * kTerms * kL;
        std::array<float, kL> scales{};
        if (spec_.kind == LossKind::Coefficients) {
            std::fill_n(scales.begin(), unit_.count, 1.0f);
            return apply_errors(multipliers, scales, targets, values);
        }
        if (spec_.kind == LossKind::Terms) {
            return apply_terms(multipliers, targets, values);
        }
        const bool regularized = spec_.kind == LossKind::Throughput;
        for (size_t c = 0; c < kTerms; c++) {
            for (size_t lane = 0; lane < kL; lane++) {
                const size_t i = c * kL + lane;
                const float z = values[i];
                values[i] = slopes_[lane] * multipliers[i] * leaky_slope(z);
                if (static_cast<int>(lane) < unit_.count && z <= 0) {
                    const float force = regularized ? kRegularization : kRegularization * 0.1f;
                    loss_ += static_cast<double>(-z * force);
                    values[i] -= force;
                }
            }
        }
    }

    double loss() const { return loss_; }

private:
    // Errors are relative to the geometric mean of the cost of the stage and of the schedule, so
    // that what matters in the schedule has to be right, and what would matter in another, too.
    void apply_terms(const float *multipliers, const float *targets, float *values) {
        std::array<float, kL> costs{}, scales{};
        for (size_t c = 0; c < kTerms; c++) {
            for (size_t lane = 0; lane < kL; lane++) {
                costs[lane] += multipliers[c * kL + lane] * targets[c * kL + lane];
            }
        }
        for (size_t lane = 0; lane < static_cast<size_t>(unit_.count); lane++) {
            const float total = unit_.runtimes[lane];
            scales[lane] = 1.0f / std::sqrt(std::max(costs[lane], kSmallestShare * total) * total);
        }
        apply_errors(multipliers, scales, targets, values);
    }

    void apply_errors(const float *multipliers,
                      const std::array<float, kL> &scales,
                      const float *targets,
                      float *values) {
        // A sum of logarithms is the logarithm of a product, as long as that does not overflow.
        std::array<double, kL> products;
        products.fill(1);
        for (size_t c = 0; c < kTerms; c++) {
            for (size_t lane = 0; lane < kL; lane++) {
                const size_t i = c * kL + lane;
                const float z = values[i], factor = multipliers[i] * scales[lane];
                const float error = factor * (leaky(z) - targets[i]);
                // Far from the target the slope is that of a logarithm: large multipliers do not
                // drown the others.
                const float excess = 1.0f + error * error;
                products[lane] *= static_cast<double>(excess);
                const float slope = 2.0f * error / excess * factor + slopes_[lane] * multipliers[i];
                const float revived = slope < 0 ? kRevival * slope : 0.0f;
                values[i] = z > 0 ? slope : revived;
            }
            if (c % 8 == 7) {
                for (double &product : products) {
                    loss_ += std::log(product);
                    product = 1;
                }
            }
        }
    }

    const Unit &unit_;
    const LossSpec &spec_;
    std::array<float, kLanes> slopes_{};
    double loss_ = 0;
};

}  // namespace

UnitResult Network::evaluate(const Unit &unit, const LossSpec &spec, Weights *gradient) const {
    const bool needs_targets = spec.kind == LossKind::Terms || spec.kind == LossKind::Coefficients;
    ANDERSON_CHECK(!needs_targets || !unit.targets.empty()) << "a unit has no targets";
    Activations activations;
    forward(unit, activations);
    LossGradient loss(unit, spec, activations.predictions);
    float trunk_gradient[kTerms];
    for (size_t w = 0; w < static_cast<size_t>(unit.num_stages()); w++) {
        float *derivatives = activations.preactivations.data() + w * kTerms * kL;
        loss.apply(w, derivatives);
        if (gradient == nullptr) {
            continue;
        }
        lanes_backward({weights_.conv1_filter.data() + kHead1 * kTerms,
                        unit.inputs.data() + w * kInputs * kL,
                        activations.head2.data() + w * kHead2 * kL,
                        derivatives},
                       {gradient->head2_filter.data(),
                        gradient->head2_bias.data(),
                        gradient->conv1_filter.data() + kHead1 * kTerms,
                        trunk_gradient});
        backward_algorithm(unit.algorithm->stages[w],
                           activations.head1.data() + w * kHead1,
                           trunk_gradient,
                           *gradient);
    }
    return {loss.loss(), activations.predictions};
}

void Network::backward_algorithm(const std::vector<SparseAlgorithm::Entry> &entries,
                                 const float *head1,
                                 const float *trunk_gradient,
                                 Weights &gradient) const {
    float head1_gradient[kHead1];
    for (size_t c = 0; c < kTerms; c++) {
        gradient.conv1_bias[c] += trunk_gradient[c];
    }
    for (size_t k = 0; k < kHead1; k++) {
        float sum = 0;
        for (size_t c = 0; c < kTerms; c++) {
            gradient.conv1_filter[k * kTerms + c] += trunk_gradient[c] * head1[k];
            sum += weights_.conv1_filter[k * kTerms + c] * trunk_gradient[c];
        }
        head1_gradient[k] = sum;
        gradient.head1_bias[k] += sum;
    }
    for (const SparseAlgorithm::Entry &entry : entries) {
        for (size_t k = 0; k < kHead1; k++) {
            const size_t i = size_t{entry.index} * kHead1 + k;
            const float q = squashed_[i];
            gradient.head1_filter[i] += q * (1.0f - q) * head1_gradient[k] * entry.count;
        }
    }
}

}  // namespace anderson2021
