#include "support/rational.h"

#include <cstdlib>
#include <numeric>

namespace anderson2021 {

Rational &Rational::operator+=(const Rational &other) {
    if ((d & other.d) == 0) {
        *this = unknown();
    } else if (d == other.d) {
        n += other.n;
    } else {
        const int64_t l = std::lcm(static_cast<int64_t>(d), static_cast<int64_t>(other.d));
        const int64_t sum = n * (l / d) + other.n * (l / other.d);
        const int64_t g = std::gcd(sum, l);
        n = static_cast<int32_t>(sum / g);
        d = static_cast<int32_t>(l / g);
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
    return {n * other.n, d * other.d};
}

Rational Rational::operator*(int64_t k) const {
    if (is(0)) {
        return *this;
    }
    return {static_cast<int32_t>(n * k), d};
}

bool operator==(const Rational &a, const Rational &b) {
    return a.exists() == b.exists() &&
           static_cast<int64_t>(a.n) * b.d == static_cast<int64_t>(b.n) * a.d;
}

}  // namespace anderson2021
