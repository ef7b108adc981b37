// Derivatives of index expressions by the loops of a stage.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

#include "algorithm/access_jacobian.h"

namespace anderson2021 {

class AccessDifferentiator {
public:
    /// @param loops  variables of the stage's loops, innermost first
    explicit AccessDifferentiator(std::vector<std::string> loops);

    /// A let-binding that the expressions to come may refer to; innermost last.
    void push_let(const std::string &name, const Halide::Expr &value);
    void pop_let(const std::string &name);

    /// Row i: derivatives of coordinates[i] by every loop. Sums, differences and products or
    /// quotients with a constant right operand are known; every other shape is unknown in the loops
    /// that it uses and 0 in all others.
    AccessJacobian jacobian(const std::vector<Halide::Expr> &coordinates);

private:
    Rational derive(const Halide::Expr &e, size_t loop);
    Rational derive_variable(const std::string &name, size_t loop);

    std::vector<std::string> loops_;
    Halide::Internal::Scope<Halide::Expr> lets_;
    /// Derivatives of the let-bound variables in scope.
    std::map<std::pair<std::string, size_t>, Rational> memo_;
};

}  // namespace anderson2021
