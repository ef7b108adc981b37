// What the expressions of one definition call, in the form in which the user's program left them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "Halide.h"

namespace anderson2021 {

/// Arguments, values and predicate (if any) of a definition as the operands of one call.
Halide::Expr bundle_expressions(const Halide::Internal::Definition &def);

struct ExpressionScan {
    /// Call nodes per name, of whatever kind; a shared subexpression counts at each occurrence.
    std::map<std::string, int64_t> calls;
    /// Every access of a Func or an image has exactly the Func's own arguments as coordinates.
    bool pointwise = true;
};

/// Scans the bundle of a definition of `f`.
ExpressionScan scan_expressions(const Halide::Internal::Function &f, const Halide::Expr &bundle);

}  // namespace anderson2021
