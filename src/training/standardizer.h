// Trains on inputs of mean 0 and variance 1, but keeps weights for the inputs as they are.
//
// The network takes logarithms, which are mostly far from zero and go up and down together; that
// makes learning slow. Shifting and scaling inputs is undone by changing the second embedding.
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
    /// Mean and deviation over all rows of the batches.
    explicit Standardizer(const std::vector<Batch> &batches);

    /// Shifts and scales the inputs of all units.
    void apply(std::vector<Batch> &training, std::vector<Batch> &validation) const;
    /// Weights that give for shifted and scaled inputs what `weights` give for the others, and
    /// back.
    Weights to_standardized(const Weights &weights) const;
    Weights from_standardized(const Weights &weights) const;

private:
    std::array<double, kHead2Width> mean_{}, deviation_{};
};

}  // namespace anderson2021
