// The matrix products of the network, for one stage of sixteen schedules side by side.
#pragma once

namespace anderson2021 {

/// Filters as in Weights (output channel innermost); `trunk_filter` begins behind the rows of the
/// algorithm's embedding, `trunk` holds that embedding's share and the bias, per coefficient.
struct LanesForward {
    const float *head2_filter, *head2_bias, *trunk_filter, *trunk;
    /// [73][lane]
    const float *inputs;
};
/// Fills head2 [24][lane], in front of the activation, and preactivations [32][lane].
void lanes_forward(const LanesForward &in, float *head2, float *preactivations);

struct LanesBackward {
    const float *trunk_filter;
    const float *inputs;
    /// As lanes_forward() left it.
    const float *head2;
    /// Derivatives by the preactivations, [32][lane].
    const float *derivatives;
};
struct LanesGradient {
    /// Added to.
    float *head2_filter, *head2_bias, *trunk_filter;
    /// Overwritten: derivatives by `trunk`.
    float *trunk;
};
void lanes_backward(const LanesBackward &in, const LanesGradient &gradient);

}  // namespace anderson2021
