// Values of expressions without variables, where Halide's simplifier leaves one standing: it keeps
// what depends on the machine or overflows, e.g. the conversion of an infinite float to an integer.
#pragma once

#include <cstdint>
#include <optional>

#include "Halide.h"

namespace anderson2021 {

/// The value of a scalar integer or Boolean expression without variables, or nothing if it contains
/// an operation whose value is not known here (a load, a call of an unknown function).
///
/// What the hardware leaves open gets the value that fits bounds best: conversions of floats and
/// arithmetic on signed integers of 32 bits and more saturate, NaN becomes 0. Narrower and unsigned
/// integers wrap around. Division and modulo are Halide's: rounded so that the remainder is not
/// negative, and 0 if the divisor is.
std::optional<int64_t> constant_value(const Halide::Expr &e);

}  // namespace anderson2021
