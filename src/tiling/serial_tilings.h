// Which serial loops a Func's tile may get: pure functions of extents.
//
// A thread computes 1, 2, 4 or 8 points along each dimension, or all of it if the extent is 3, 5
// or 7. What is listed are the trip counts that remain outside the serial loops, which blocks and
// threads then share.
#pragma once

#include <cstdint>
#include <vector>

#include "support/small_vector.h"

namespace anderson2021 {

struct SerialTilingOptions {
    /// Serial extents to be tried along the lane dimension besides 1, 2, 4, 8.
    Extents extra_lane_sizes;
    /// Drop tilings with fewer than 16 outer iterations along the lane dimension.
    bool filter_small_outer_extents = false;
    /// Allow the tiling whose outer extents equal the full extents.
    bool allow_whole = true;
};

/// Outer trip counts ceil(extent / serial extent) of every serial tiling, dimension 0 outermost in
/// enumeration order. `lane` is the lane dimension or -1. Never contains the all-ones vector,
/// except as the only entry when all extents are 1 and `allow_whole`.
std::vector<Extents>
serial_tilings(const Extents &extents, int lane, const SerialTilingOptions &options);

}  // namespace anderson2021
