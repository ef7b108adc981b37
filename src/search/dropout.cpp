#include "search/dropout.h"

#include <algorithm>
#include <cmath>

namespace anderson2021 {

Dropout::Dropout(int64_t percent, int num_funcs) : active_(percent < 100) {
    // A descent survives if all of its decisions do, so each one gets that root of the probability.
    const float per_decision = 1.0f / (2.0f * static_cast<float>(std::max(num_funcs, 1)));
    threshold_ =
        100 * std::pow(static_cast<double>(percent) / 100, static_cast<double>(per_decision));
}

bool Dropout::drops(size_t num_left, Rng &rng) const {
    if (!active_ || num_left <= 1) {
        return false;
    }
    return static_cast<double>(rng.next() % 100) >= threshold_;
}

}  // namespace anderson2021
