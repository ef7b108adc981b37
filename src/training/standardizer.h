// Trains on inputs of mean 0 and variance 1 that do not go up and down together, but keeps weights
// for the inputs as they are.
//
// The network takes logarithms of features, many of which say nearly the same; steps along a
// gradient make slow progress then. A linear map of the inputs is undone by changing the second
// embedding.
#pragma once

#include <array>
#include <vector>

#include "costmodel/weights.h"
#include "training/dataset.h"

namespace anderson2021 {

class Standardizer {
public:
    /// Changes nothing.
    Standardizer();
    /// From means and covariances of all rows of the units, or of those of the batches.
    explicit Standardizer(const std::vector<const Unit *> &units);
    explicit Standardizer(const std::vector<Batch> &batches);

    /// Maps the inputs of all units.
    void apply(std::vector<Batch> &batches, ThreadPool &pool) const;
    /// Weights that give for mapped inputs what `weights` give for the others, and back.
    Weights to_standardized(const Weights &weights) const;
    Weights from_standardized(const Weights &weights) const;
    /// The gradient by standardized weights, from that by the weights that they stand for.
    Weights gradient_to_standardized(const Weights &gradient) const;

private:
    using Matrix = std::vector<std::array<double, kHead2Width>>;

    void apply(Unit &unit) const;

    std::array<double, kHead2Width> mean_{};
    /// Lower triangular: mapped = map_ (input - mean_), input = inverse_ mapped + mean_.
    Matrix map_, inverse_;
};

}  // namespace anderson2021
