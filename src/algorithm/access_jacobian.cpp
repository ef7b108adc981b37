#include "algorithm/access_jacobian.h"

#include <utility>

namespace anderson2021 {

AccessJacobian::AccessJacobian(int rows, int cols, std::vector<Rational> entries, int64_t count)
    : rows_(rows), cols_(cols), count_(count), entries_(std::move(entries)) {}

bool AccessJacobian::all_exist() const {
    for (const Rational &r : entries_) {
        if (!r.exists()) {
            return false;
        }
    }
    return true;
}

bool AccessJacobian::column_is_zero(int col) const {
    for (int i = 0; i < rows_; i++) {
        if (!at(i, col).is(0)) {
            return false;
        }
    }
    return true;
}

bool AccessJacobian::same_entries(const AccessJacobian &other) const {
    return rows_ == other.rows_ && cols_ == other.cols_ && entries_ == other.entries_;
}

AccessJacobian AccessJacobian::scaled(const std::vector<int64_t> &factors) const {
    AccessJacobian result = *this;
    if (rows_ == 0 || cols_ == 0) {
        return result;
    }
    for (int i = 0; i < rows_; i++) {
        for (int j = 0; j < cols_; j++) {
            Rational &entry = result.entries_[static_cast<size_t>(i * cols_ + j)];
            entry = entry * factors[static_cast<size_t>(j)];
        }
    }
    return result;
}

AccessJacobian AccessJacobian::operator*(const AccessJacobian &outer) const {
    AccessJacobian result(rows_, outer.cols_, {}, count_ * outer.count_);
    result.entries_.reserve(static_cast<size_t>(rows_ * outer.cols_));
    for (int i = 0; i < rows_; i++) {
        for (int j = 0; j < outer.cols_; j++) {
            Rational sum{0, 1};
            for (int k = 0; k < cols_; k++) {
                sum += at(i, k) * outer.at(k, j);
            }
            result.entries_.push_back(sum);
        }
    }
    return result;
}

}  // namespace anderson2021
