// What the synthetic schedules cost. The numbers come from another implementation of the model
// (single precision), so agreement is to be expected within 2e-6.
#pragma once

#include <array>

#include "synthetic.h"

namespace anderson2021 {
namespace test {

struct SyntheticCosts {
    /// Stages of schedule 0, and sums over the stages of each schedule; ms.
    std::array<double, kSyntheticStages> stages;
    std::array<double, kSyntheticSchedules> totals;
    /// Loss of a batch of all schedules with synthetic_runtimes.
    double loss;
    /// Per buffer, the sum of absolute values of its gradient.
    std::array<double, kNumWeightBuffers> gradient_norms;
    /// Per buffer, the first element after one step at rate 0.01.
    std::array<double, kNumWeightBuffers> updated;
};

/// With drawn_weights().
constexpr SyntheticCosts kDrawnCosts = {
    {0.14467837, 0.002209709, 0.01334924, 0.037287451},
    {0.19752476,
     0.27007651,
     0.36432451,
     0.15507062,
     0.20802011,
     0.30365378,
     0.37268841,
     0.25766632,
     0.1730873,
     0.27964818},
    0.89060444,
    {0.31783026, 0.005732276, 1.5164316, 0.0070719142, 7.3633509, 0.0089662774},
    {0.20691489, -0.24841915, -0.17398559, -0.078085974, -0.450144, 0.3867291}};

/// With counting_weights().
constexpr SyntheticCosts kCountingCosts = {
    {0.036909942, 0.0011431215, 0.0032934127, 0.0065861838},
    {0.047932658,
     0.05402096,
     0.07191781,
     0.033102386,
     0.04308407,
     0.044716422,
     0.090961553,
     0.04483676,
     0.05007121,
     0.07091026},
    41.211006,
    {0, 0, 0, 0, 6656.02, 8.1042576},
    {0.19843507, -0.23858753, -0.16405925, -0.0683403, 0.009999635, 1.0099995}};

}  // namespace test
}  // namespace anderson2021
