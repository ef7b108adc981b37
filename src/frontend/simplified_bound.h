// Bounds that only the compiler itself can evaluate: by substitution and simplification.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "Halide.h"

#include "algorithm/bound_expr.h"

namespace anderson2021 {

/// Slow, but takes any expression. Callable from any thread.
class SimplifiedBound : public BoundProgram {
public:
    /// @param ends  variable name -> span of the environment, uses maximum
    SimplifiedBound(const Halide::Expr &e, std::map<std::string, std::pair<int, bool>> ends);

    /// Throws InternalError if the expression does not fold to a constant.
    int64_t evaluate(const Span *env) const override;
    std::string text() const override;

private:
    const Halide::Expr expr_;
    const std::map<std::string, std::pair<int, bool>> ends_;
    /// The compiler promises nothing about simplifying one expression from several threads.
    mutable std::mutex mutex_;
};

}  // namespace anderson2021
