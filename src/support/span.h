// A closed interval of integers, the unit of every bounds computation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace anderson2021 {

/// Closed interval [min, max] of 64-bit integers with two statements about its extent.
///
/// `constant` is the cost model's notion of "extent known at compile time": it takes the estimates
/// of parameters for their values, and features depend on it. `exact` holds only if the extent is
/// known without any estimate; lowering relies on it. exact implies nothing about `constant`.
struct Span {
    int64_t min = 0;
    int64_t max = -1;
    bool constant = false;
    bool exact = false;

    /// The neutral element of union.
    static Span empty() {
        return {
            std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), true, true};
    }
    static Span point(int64_t at) { return {at, at, true, true}; }

    /// Number of integers in the interval; meaningless for the empty span.
    int64_t extent() const { return max - min + 1; }
    bool is_empty() const { return min > max; }

    void union_with(const Span &other) {
        min = std::min(min, other.min);
        max = std::max(max, other.max);
        constant = constant && other.constant;
        exact = exact && other.exact;
    }
};

inline bool operator==(const Span &a, const Span &b) {
    return a.min == b.min && a.max == b.max && a.constant == b.constant && a.exact == b.exact;
}
inline bool operator!=(const Span &a, const Span &b) {
    return !(a == b);
}

}  // namespace anderson2021
