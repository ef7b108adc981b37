// Simplification of expressions whose parts are shared.
#pragma once

#include "Halide.h"

namespace anderson2021 {

/// Number of nodes of an expression if shared parts are counted wherever they occur: what a visitor
/// that knows nothing of sharing has to visit. Takes time proportional to the parts themselves.
double written_size(const Halide::Expr &e);

/// The expression as the compiler's simplifier leaves it. That one treats shared parts as often as
/// they occur, which is without end for, say, bounds of the 14th power of a float. Where this is
/// much, parts become let-bindings first.
Halide::Expr simplified(const Halide::Expr &e);

}  // namespace anderson2021
