#include "support/rational.h"

#include <utility>

namespace anderson2021 {

namespace {

// Euclid's algorithm with truncating remainders, larger operand first. The sign of the result
// follows from that, and decides on the signs of denominators, whose bits the sum looks at.
int64_t signed_gcd(int64_t a, int64_t b) {
    if (a < b) {
        std::swap(a, b);
    }
    while (b != 0) {
        a = std::exchange(b, a % b);
    }
    return a;
}

int64_t signed_lcm(int64_t a, int64_t b) {
    return a * b / signed_gcd(a, b);
}

Rational narrow(int64_t n, int64_t d) {
    return {static_cast<int32_t>(n), static_cast<int32_t>(d)};
}

}  // namespace

Rational &Rational::operator+=(const Rational &other) {
    if ((d & other.d) == 0) {
        *this = unknown();
    } else if (d == other.d) {
        *this = narrow(static_cast<int64_t>(n) + other.n, d);
    } else {
        const int64_t l = signed_lcm(d, other.d);
        const int64_t sum = n * (l / d) + other.n * (l / other.d);
        const int64_t g = signed_gcd(sum, l);
        *this = narrow(sum / g, l / g);
    }
    return *this;
}

Rational Rational::operator*(const Rational &other) const {
    if (is(0)) {
        return *this;
    }
    if (other.is(0)) {
        return other;
    }
    return narrow(static_cast<int64_t>(n) * other.n, static_cast<int64_t>(d) * other.d);
}

Rational Rational::operator*(int64_t k) const {
    return is(0) ? *this : narrow(n * k, d);
}

bool operator==(const Rational &a, const Rational &b) {
    return a.exists() == b.exists() &&
           static_cast<int64_t>(a.n) * b.d == static_cast<int64_t>(b.n) * a.d;
}

}  // namespace anderson2021
