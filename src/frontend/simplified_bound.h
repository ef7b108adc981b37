// Bounds that only the compiler itself can evaluate: by substitution and simplification.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

#include "algorithm/bound_expr.h"

namespace anderson2021 {

/// Slow, but takes any expression; remembers its results. Callable from any thread.
class SimplifiedBound : public BoundProgram {
public:
    /// @param ends  variable name -> span of the environment, uses maximum
    SimplifiedBound(const Halide::Expr &e, const std::map<std::string, std::pair<int, bool>> &ends);

    /// Throws InternalError if the expression does not fold to a constant.
    int64_t evaluate(const Span *env) const override;
    std::string text() const override;

private:
    struct End {
        std::string name;
        int span;
        bool is_max;
    };

    int64_t simplify(const std::vector<int32_t> &values) const;

    const Halide::Expr expr_;
    /// Those that occur in the expression.
    std::vector<End> ends_;
    /// The compiler promises nothing about simplifying one expression from several threads.
    mutable std::mutex mutex_;
    /// Results per values of ends_.
    mutable std::map<std::vector<int32_t>, int64_t> known_;
};

}  // namespace anderson2021
