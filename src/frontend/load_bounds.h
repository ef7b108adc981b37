// Bounds that depend on data.
#pragma once

#include "Halide.h"

namespace anderson2021 {

/// The compiler takes a value that is read at a single point for a constant like any other, so that
/// it may appear in the bounds of coordinates: h(clamp(table(3), 0, 63)). Nobody knows it before
/// the pipeline runs. This replaces such values by all that they may be, as far as their type and
/// the expressions around them tell; ends may become infinite.
Halide::Internal::Interval without_loads(const Halide::Internal::Interval &interval);

}  // namespace anderson2021
