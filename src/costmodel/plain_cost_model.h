// The cost model in plain double precision: the yardstick for the compiled network, and the way to
// see what a prediction is made of.
#pragma once

#include <array>
#include <memory>

#include "costmodel/cost_model.h"
#include "costmodel/weights.h"

namespace anderson2021 {

/// Everything that leads to the cost of one stage.
struct StageBreakdown {
    /// Sums in front of the last activation.
    std::array<double, kConv1Channels> preactivations{};
    std::array<double, kConv1Channels> coefficients{};
    /// What each coefficient is multiplied by; 0 for coefficients without a term.
    std::array<double, kConv1Channels> multipliers{};
    /// Sum of coefficient x multiplier, ms.
    double cost_ms = 0;
    /// The same with absolute values.
    double magnitude_ms = 0;
    /// The same once more, with the absolute values of everything that the network adds up to the
    /// coefficients. Rounding errors are in proportion to it rather than to the cost, because a
    /// coefficient can be the small difference of large numbers.
    double summands_ms = 0;
};

/// Evaluates rows of one pipeline with one set of weights.
class PlainNetwork {
public:
    /// Embeds the algorithm features of every stage.
    PlainNetwork(const Weights &weights, const AlgorithmInputs &inputs);
    /// `row.position` has to be a stage of the inputs.
    StageBreakdown evaluate(const StageRow &row) const;

private:
    Weights weights_;
    int num_stages_, num_cores_;
    /// Share of the algorithm features in the preactivations, 32 per stage; and the same with the
    /// absolute values of all summands.
    std::vector<double> algorithm_trunk_, algorithm_summands_;
};

/// The same as a CostModel. Slow: meant for tests and for canonical runs.
std::unique_ptr<CostModel> make_plain_cost_model(const Weights &weights);

}  // namespace anderson2021
