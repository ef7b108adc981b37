// Sampled mode: of each group of similar alternatives only a few random ones are tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace anderson2021 {

/// Alternatives by hash, in order of first occurrence.
class Buckets {
public:
    void add(uint64_t hash, size_t alternative);
    std::vector<std::vector<size_t>> &all() { return buckets_; }

private:
    std::unordered_map<uint64_t, size_t> index_;
    std::vector<std::vector<size_t>> buckets_;
};

/// How many of `size` similar alternatives are taken: the binary logarithm, rounded down, but at
/// least one.
size_t sample_quota(size_t size);

}  // namespace anderson2021
