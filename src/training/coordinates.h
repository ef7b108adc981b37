// Weights in coordinates in which steps along the gradient get far.
//
// Coefficients differ by orders of magnitude, counts of operations and features of schedules go up
// and down together, and the logistic function is flat where an operation counts fully or not at
// all. So the optimizer works on others: coefficients relative to their size; shares of counts
// instead of what the logistic function makes shares of; counts and features without their means,
// the latter without what they have in common. The function of the network is the same.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/weights.h"
#include "training/network.h"
#include "training/standardizer.h"

namespace anderson2021 {

class Coordinates {
public:
    /// Sizes and means are taken from the units' algorithms, inputs and targets.
    explicit Coordinates(const std::vector<const Unit *> &units);

    /// Coordinates to start with. Coefficients are right on average.
    Weights random(int64_t seed) const;
    Weights from_plain(const Weights &weights) const;
    Weights to_plain(const Weights &inner) const;
    /// The gradient by coordinates, from that by the weights that they stand for.
    Weights gradient(const Weights &inner, const Weights &plain_gradient) const;
    /// Moves shares of counts back to between 0 and 1, both excluded.
    static void keep_inside(Weights &inner);

    /// Root mean square of each coefficient to be learnt.
    const std::array<float, kConv1Channels> &sizes() const { return sizes_; }

private:
    float embedding_scale(size_t input) const;

    Standardizer standardizer_;
    std::array<float, kConv1Channels> sizes_{}, means_{};
    std::array<float, kNumNetworkFeatures> counts_{};
    // Of sums of counts; what the embedding of an algorithm is divided by.
    float count_deviation_ = 1;
};

}  // namespace anderson2021
