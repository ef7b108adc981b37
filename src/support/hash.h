// Combining 64-bit hashes.
#pragma once

#include <cstdint>

namespace anderson2021 {

/// Mixes `value` into `hash`; the order of calls matters.
inline void hash_combine(uint64_t &hash, uint64_t value) {
    // A multiply-xorshift finaliser, so that small integers spread over all bits.
    value *= 0x9e3779b97f4a7c15ull;
    value ^= value >> 32;
    hash ^= value;
    hash *= 0xd6e8feb86659fd93ull;
    hash ^= hash >> 29;
}

}  // namespace anderson2021
