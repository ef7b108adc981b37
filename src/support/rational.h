// Rational numbers that may be unknown, as access derivatives need them.
#pragma once

#include <cstdint>

namespace anderson2021 {

/// n/d with 32-bit parts; d = 0 means "unknown". d may be negative and fractions are reduced only
/// where a sum brings two different denominators together.
struct Rational {
    int32_t n = 0;
    int32_t d = 1;

    static Rational unknown() { return {0, 0}; }

    bool exists() const { return d != 0; }
    /// Known and equal to the integer k.
    bool is(int64_t k) const { return d != 0 && n == k * d; }

    /// Compat: unknown whenever the denominators have no bit in common, even if both are known.
    Rational &operator+=(const Rational &other);
    /// Zero times unknown is zero.
    Rational operator*(const Rational &other) const;
    Rational operator*(int64_t k) const;
};

/// Equal values, or both unknown.
bool operator==(const Rational &a, const Rational &b);
inline bool operator!=(const Rational &a, const Rational &b) {
    return !(a == b);
}

}  // namespace anderson2021
