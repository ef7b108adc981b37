#include "training/optimizer.h"

#include <cmath>

namespace anderson2021 {

namespace {
constexpr float kMeanDecay = 0.9f, kVarianceDecay = 0.999f, kEpsilon = 1e-5f;
}

double optimizer_step(
    const Weights &gradient, float rate, double clip, OptimizerState &state, Weights &weights) {
    double squares = 0;
    for (const std::vector<float> *buffer : gradient.buffers()) {
        for (const float g : *buffer) {
            squares += static_cast<double>(g) * static_cast<double>(g);
        }
    }
    const double norm = std::sqrt(squares);
    if (!std::isfinite(norm)) {
        return norm;
    }
    const float scale = clip > 0 && norm > clip ? static_cast<float>(clip / norm) : 1.0f;
    state.timestep++;
    const auto t = static_cast<double>(state.timestep);
    const auto mean_correction =
        static_cast<float>(1 - std::pow(static_cast<double>(kMeanDecay), t));
    const auto variance_correction =
        static_cast<float>(1 - std::pow(static_cast<double>(kVarianceDecay), t));
    const auto gradients = gradient.buffers();
    const auto means = state.mean.buffers(), variances = state.variance.buffers();
    const auto values = weights.buffers();
    for (size_t b = 0; b < values.size(); b++) {
        for (size_t i = 0; i < values[b]->size(); i++) {
            const float g = (*gradients[b])[i] * scale;
            float &m = (*means[b])[i], &v = (*variances[b])[i];
            m = kMeanDecay * m + (1 - kMeanDecay) * g;
            v = kVarianceDecay * v + (1 - kVarianceDecay) * g * g;
            (*values[b])[i] -=
                rate * (m / mean_correction) / (std::sqrt(v / variance_correction) + kEpsilon);
        }
    }
    return norm;
}

}  // namespace anderson2021
