#include "search/diversity.h"

#include <cmath>

namespace anderson2021 {

int64_t Diversity::penalty(uint64_t look_alike_hash, uint64_t permitted_hash) {
    int64_t penalty = ++seen_[look_alike_hash];
    if (pass_ > 0 && permitted_.count(permitted_hash) == 0) {
        penalty += kUnpermitted;
    }
    return penalty;
}

double penalized_rank(double rank, int64_t penalty) {
    return rank + static_cast<double>(penalty - 1) * std::abs(rank);
}

}  // namespace anderson2021
