// Random numbers that are the same on every platform.
//
// The standard fixes the output of the generator, but neither that of its distributions nor the
// order in which std::shuffle draws; so those are written out here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace anderson2021 {

class Rng {
public:
    /// The seed is taken modulo 2^32; 0 is a seed like any other.
    explicit Rng(int64_t seed) : engine_(static_cast<uint32_t>(seed)) {}

    /// 32 random bits.
    uint32_t next() { return static_cast<uint32_t>(engine_()); }

    /// Uniform in [0, n). n must be positive. Draws once, rarely more often.
    uint32_t below(uint32_t n) {
        // Values from the incomplete last range of n would prefer small results.
        const auto reject_from = static_cast<uint32_t>((uint64_t{1} << 32) / n * n - 1);
        uint32_t value = next();
        while (value > reject_from) {
            value = next();
        }
        return value % n;
    }

    /// Uniform in [0, 1), with 32 bits.
    double uniform() { return next() * (1.0 / 4294967296.0); }

    /// Puts the elements into a random order (Fisher-Yates, from the back).
    template<typename T>
    void shuffle(std::vector<T> &values) {
        for (size_t i = values.size(); i > 1; i--) {
            std::swap(values[i - 1], values[below(static_cast<uint32_t>(i))]);
        }
    }

private:
    std::mt19937 engine_;
};

}  // namespace anderson2021
