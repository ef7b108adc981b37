#include "costmodel/plain_cost_model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "costmodel/network/cost_terms.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

struct DoubleOps {
    using Value = double;
    static double max(double a, double b) { return std::max(a, b); }
    static double ceil(double a) { return std::ceil(a); }
    static double select(bool condition, double a, double b) { return condition ? a : b; }
};

double leaky(double v) {
    return std::max(v, 0.0) + 1e-10 * std::min(v, 0.0);
}

// Index of element `inner` of row `outer` in rows of `extent` elements.
size_t index_of(int outer, int extent, int inner) {
    return static_cast<size_t>(outer) * static_cast<size_t>(extent) + static_cast<size_t>(inner);
}

// An element of a filter, whose channel is innermost.
double at(const std::vector<float> &filter, int channels, int channel, int input) {
    return static_cast<double>(filter[index_of(input, channels, channel)]);
}

class PlainCostModel : public CostModel {
public:
    explicit PlainCostModel(const Weights &weights) : weights_(weights) {}

    void begin(const AlgorithmInputs &inputs) override { network_.emplace(weights_, inputs); }

    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        ANDERSON_CHECK(network_.has_value()) << "predict before begin";
        std::vector<float> costs;
        costs.reserve(rows.size());
        for (const StageRow &row : rows) {
            costs.push_back(is_usable_row(row) ? static_cast<float>(network_->evaluate(row).cost_ms)
                                               : std::numeric_limits<float>::quiet_NaN());
        }
        return costs;
    }

private:
    Weights weights_;
    std::optional<PlainNetwork> network_;
};

}  // namespace

PlainNetwork::PlainNetwork(const Weights &weights, const AlgorithmInputs &inputs)
    : weights_(weights), num_stages_(inputs.num_stages), num_cores_(inputs.num_cores) {
    ANDERSON_CHECK(inputs.num_cores > 0) << "num_cores = " << inputs.num_cores;
    ANDERSON_CHECK(inputs.features.size() == static_cast<size_t>(num_stages_) * kNumNetworkFeatures)
        << inputs.features.size() << " features for " << num_stages_ << " stages";
    for (int stage = 0; stage < num_stages_; stage++) {
        std::array<double, kHead1Channels> head1{}, summands1{};
        for (int c = 0; c < kHead1Channels; c++) {
            const auto bias = static_cast<double>(weights.head1_bias[static_cast<size_t>(c)]);
            double sum = bias;
            for (int i = 0; i < kNumNetworkFeatures; i++) {
                const int kind = i / kHead1Height, type = i % kHead1Height;
                const double raw =
                    at(weights.head1_filter, kHead1Channels, c, kind + kHead1Width * type);
                const size_t index = index_of(stage, kNumNetworkFeatures, i);
                sum += static_cast<double>(inputs.features[index]) / (1.0 + std::exp(-raw));
            }
            head1[static_cast<size_t>(c)] = sum;
            // Counts are not negative, nor are the squashed weights.
            summands1[static_cast<size_t>(c)] = std::abs(sum - bias) + std::abs(bias);
        }
        for (int c = 0; c < kConv1Channels; c++) {
            double sum = static_cast<double>(weights.conv1_bias[static_cast<size_t>(c)]);
            double summands = std::abs(sum);
            for (int k = 0; k < kHead1Channels; k++) {
                const double weight = at(weights.conv1_filter, kConv1Channels, c, k);
                sum += weight * head1[static_cast<size_t>(k)];
                summands += std::abs(weight) * summands1[static_cast<size_t>(k)];
            }
            algorithm_trunk_.push_back(sum);
            algorithm_summands_.push_back(summands);
        }
    }
}

StageBreakdown PlainNetwork::evaluate(const StageRow &row) const {
    ANDERSON_CHECK(row.position >= 0 && row.position < num_stages_)
        << "stage " << row.position << " of " << num_stages_;
    std::array<double, kHead2Width> normalized{};
    for (size_t s = 0; s < normalized.size(); s++) {
        normalized[s] = std::log1p(static_cast<double>(row.features[s]));
    }
    std::array<double, kHead2Channels> relu2{}, summands2{};
    for (int c = 0; c < kHead2Channels; c++) {
        double sum = static_cast<double>(weights_.head2_bias[static_cast<size_t>(c)]);
        double summands = std::abs(sum);
        for (int s = 0; s < kHead2Width; s++) {
            const double product = at(weights_.head2_filter, kHead2Channels, c, s) *
                                   normalized[static_cast<size_t>(s)];
            sum += product;
            summands += std::abs(product);
        }
        relu2[static_cast<size_t>(c)] = leaky(sum);
        summands2[static_cast<size_t>(c)] = summands;
    }
    std::array<double, kConv1Channels> summands{};
    StageBreakdown result;
    for (int c = 0; c < kConv1Channels; c++) {
        double sum = algorithm_trunk_[index_of(row.position, kConv1Channels, c)];
        double of_c = algorithm_summands_[index_of(row.position, kConv1Channels, c)];
        for (int k = 0; k < kHead2Channels; k++) {
            const double weight = at(weights_.conv1_filter, kConv1Channels, c, kHead1Channels + k);
            sum += weight * relu2[static_cast<size_t>(k)];
            of_c += std::abs(weight) * summands2[static_cast<size_t>(k)];
        }
        summands[static_cast<size_t>(c)] = of_c;
        result.preactivations[static_cast<size_t>(c)] = sum;
        result.coefficients[static_cast<size_t>(c)] = leaky(sum);
    }
    const auto f = [&](int i) { return static_cast<double>(row.features[i]); };
    for (const auto &term : cost_terms<DoubleOps>(f, static_cast<double>(num_cores_))) {
        const auto c = static_cast<size_t>(term.coefficient);
        const double cost = result.coefficients[c] * term.multiplier * 1e-9;
        result.multipliers[c] = term.multiplier;
        result.cost_ms += cost;
        result.magnitude_ms += std::abs(cost);
        result.summands_ms += summands[c] * std::abs(term.multiplier) * 1e-9;
    }
    return result;
}

std::unique_ptr<CostModel> make_plain_cost_model(const Weights &weights) {
    return std::make_unique<PlainCostModel>(weights);
}

}  // namespace anderson2021
