// Random dropout: gives worse schedules a chance, for sampling diverse schedules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/rng.h"

namespace anderson2021 {

class Dropout {
public:
    /// @param percent    probability that a greedy descent of all decisions drops nothing; 100
    ///                   switches dropout off
    /// @param num_funcs  Funcs of the graph, inputs included: two decisions each
    Dropout(int64_t percent, int num_funcs);

    bool active() const { return active_; }
    /// Whether to drop the candidate just taken, with `num_left` others still waiting. Draws one
    /// number per call while active and num_left > 1, none otherwise; never drops the last two.
    bool drops(size_t num_left, Rng &rng) const;

private:
    bool active_;
    // Drop if a number drawn from 0 ... 99 is not below this.
    double threshold_;
};

}  // namespace anderson2021
