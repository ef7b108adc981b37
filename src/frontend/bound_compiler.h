// Turns the compiler's bound expressions into BoundExprs that need no compiler to evaluate.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

#include "algorithm/bound_expr.h"

namespace anderson2021 {

/// Names of the variables that stand for the two ends of a span called `name`.
std::string min_variable(const std::string &name);
std::string max_variable(const std::string &name);

class BoundCompiler {
public:
    /// @param names  names of the spans of the environment, in order: span i is referred to as
    ///               min_variable(names[i]) and max_variable(names[i])
    explicit BoundCompiler(const std::vector<std::string> &names);

    /// Constants and the shapes v, v + k, v * c, v * c + k become constant or affine, by exactly
    /// that syntax: which form a bound takes decides on features. Everything else becomes a
    /// program. `e` must be simplified. Throws InternalError if it uses other variables.
    BoundExpr compile(const Halide::Expr &e) const;

private:
    std::optional<BoundExpr> as_affine(const Halide::Expr &e) const;

    /// Variable name -> span, uses maximum.
    std::map<std::string, std::pair<int, bool>> ends_;
};

}  // namespace anderson2021
