// Calls cost_embedding once per pipeline and cost_rows on the caller's rows, in place.
#include "costmodel/aot_cost_model.h"

#include "HalideBuffer.h"

#include "anderson2021_cost_embedding.h"
#include "anderson2021_cost_rows.h"
#include "costmodel/compiled_call.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

using Halide::Runtime::Buffer;

static_assert(sizeof(StageRow) == sizeof(int32_t) * (1 + kNumScheduleFeatures),
              "the compiled code steps from row to row by this size");

class AotCostModel : public CostModel {
public:
    explicit AotCostModel(const Weights &weights) : weights_(weights) {
        install_compiled_error_handler();
    }

    void begin(const AlgorithmInputs &inputs) override;
    std::vector<float> predict(const std::vector<StageRow> &rows) override;

private:
    Weights weights_;
    int num_stages_ = 0;
    int num_cores_ = 0;
    /// 32 per stage.
    std::vector<float> algorithm_trunk_;

    Buffer<float> trunk_view() {
        return Buffer<float>(algorithm_trunk_.data(), kConv1Channels, num_stages_);
    }
};

void AotCostModel::begin(const AlgorithmInputs &inputs) {
    ANDERSON_CHECK(inputs.num_cores > 0) << "num_cores = " << inputs.num_cores;
    ANDERSON_CHECK(inputs.features.size() ==
                   static_cast<size_t>(inputs.num_stages) * kNumNetworkFeatures)
        << inputs.features.size() << " features for " << inputs.num_stages << " stages";
    num_stages_ = inputs.num_stages;
    num_cores_ = inputs.num_cores;
    algorithm_trunk_.assign(static_cast<size_t>(num_stages_) * kConv1Channels, 0.0f);
    if (num_stages_ == 0) {
        return;
    }
    // Records hold the scalar type innermost; the network counts the kind first.
    const halide_dimension_t shape[] = {{0, kHead1Width, kHead1Height},
                                        {0, kHead1Height, 1},
                                        {0, num_stages_, kNumNetworkFeatures}};
    Buffer<float> features(const_cast<float *>(inputs.features.data()), 3, shape);
    Buffer<float> head1_filter = view_weights(weights_, 0), head1_bias = view_weights(weights_, 1);
    Buffer<float> filter1 = view_weights(weights_, 4), bias1 = view_weights(weights_, 5);
    Buffer<float> trunk = trunk_view();
    check_compiled_call(cost_embedding(features, head1_filter, head1_bias, filter1, bias1, trunk),
                        "cost_embedding");
}

std::vector<float> AotCostModel::predict(const std::vector<StageRow> &rows) {
    ANDERSON_CHECK(num_cores_ > 0) << "predict before begin";
    std::vector<float> costs(rows.size());
    if (rows.empty()) {
        return costs;
    }
    for (const StageRow &row : rows) {
        ANDERSON_CHECK(row.position >= 0 && row.position < num_stages_)
            << "stage " << row.position << " of " << num_stages_;
    }
    const auto count = static_cast<int>(rows.size());
    constexpr int row_stride = sizeof(StageRow) / sizeof(float);
    auto *first = const_cast<StageRow *>(rows.data());
    const halide_dimension_t position_shape[] = {{0, count, row_stride}};
    const halide_dimension_t feature_shape[] = {{0, kNumScheduleFeatures, 1},
                                                {0, count, row_stride}};
    Buffer<int32_t> positions(&first->position, 1, position_shape);
    Buffer<float> features(first->features, 2, feature_shape);
    Buffer<float> trunk = trunk_view(), cost(costs.data(), count);
    Buffer<float> head2_filter = view_weights(weights_, 2), head2_bias = view_weights(weights_, 3);
    Buffer<float> filter1 = view_weights(weights_, 4);
    check_compiled_call(
        cost_rows(num_cores_, trunk, positions, features, head2_filter, head2_bias, filter1, cost),
        "cost_rows");
    for (size_t i = 0; i < rows.size(); i++) {
        if (!is_usable_row(rows[i])) {
            costs[i] = std::numeric_limits<float>::quiet_NaN();
        }
    }
    return costs;
}

}  // namespace

std::unique_ptr<CostModel> make_aot_cost_model(const Weights &weights) {
    return std::make_unique<AotCostModel>(weights);
}

}  // namespace anderson2021
