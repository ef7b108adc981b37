#include "search/sampling.h"

namespace anderson2021 {

void Buckets::add(uint64_t hash, size_t alternative) {
    const auto found = index_.emplace(hash, buckets_.size());
    if (found.second) {
        buckets_.emplace_back();
    }
    buckets_[found.first->second].push_back(alternative);
}

size_t sample_quota(size_t size) {
    size_t quota = 0;
    for (size_t rest = size; rest > 1; rest /= 2) {
        quota++;
    }
    return quota > 0 ? quota : (size > 0 ? 1 : 0);
}

}  // namespace anderson2021
