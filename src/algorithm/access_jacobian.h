// Derivatives of the coordinates of an access with respect to the loops around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/rational.h"

namespace anderson2021 {

/// rows() x cols() matrix: entry (i, j) is d(coordinate i of the producer) / d(loop j of the
/// consumer stage), loops innermost first. `count` accesses of the stage share it.
class AccessJacobian {
public:
    AccessJacobian() = default;
    AccessJacobian(int rows, int cols, std::vector<Rational> entries, int64_t count = 1);

    int rows() const { return rows_; }
    int cols() const { return cols_; }
    int64_t count() const { return count_; }
    /// 0 if the matrix has no rows or no columns.
    Rational at(int row, int col) const {
        if (rows_ == 0 || cols_ == 0) {
            return {0, 1};
        }
        return entries_[static_cast<size_t>(row * cols_ + col)];
    }
    bool all_exist() const;
    /// Column `col` is zero in every row.
    bool column_is_zero(int col) const;
    /// Same shape and entries; counts are not compared.
    bool same_entries(const AccessJacobian &other) const;

    void increment_count() { count_++; }

    /// Column j times factors[j]; the count is kept.
    AccessJacobian scaled(const std::vector<int64_t> &factors) const;
    /// this = access of p by g, `outer` = access of g by a consumer: access of p by the consumer
    /// through the inlined g. Counts multiply.
    ///
    /// Compat: every entry sums from 0/1, so that one even denominator makes it unknown. Loop k of
    /// g is paired with storage dimension k of g.
    AccessJacobian operator*(const AccessJacobian &outer) const;

private:
    int rows_ = 0;
    int cols_ = 0;
    int64_t count_ = 1;
    std::vector<Rational> entries_;  // row-major
};

}  // namespace anderson2021
