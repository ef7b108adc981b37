// Estimates of parameters and outputs: the numbers that stand for what is only known when the
// pipeline runs.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

#include "support/span.h"

namespace anderson2021 {

/// `e` with every variable of a parameter replaced by its estimate (or by its constraint, where
/// only that is given), and metadata of concrete buffers by their values. Parameters without either
/// stay, since not every parameter matters for bounds.
Halide::Expr substitute_estimates(const Halide::Expr &e);
Halide::Internal::FuncValueBounds
substitute_estimates(const Halide::Internal::FuncValueBounds &bounds);

/// The same, simplified, for an expression whose value is needed: throws UserError, naming the
/// parameter and the call that helps, if one stays.
Halide::Expr estimated_value(const Halide::Expr &e);

/// Whether a run of the pipeline may give `e` another value than substitute_estimates() does,
/// because it mentions a parameter whose estimate is not also enforced by a constant constraint.
bool depends_on_estimate(const Halide::Expr &e);

/// The estimated region of an output, one span per argument. A span is constant and exact if it
/// stems from Func::bound. Throws UserError, naming the dimension, where a constant estimate is
/// missing.
std::vector<Span> estimated_region(const Halide::Internal::Function &output);

}  // namespace anderson2021
