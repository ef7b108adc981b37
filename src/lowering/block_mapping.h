// Which loops become GPU blocks, and how they share the three dimensions of the grid.
#pragma once

#include <cstdint>
#include <vector>

#include "device/gpu_device.h"
#include "lowering/stage_plan.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// Sizes of the groups into which consecutive block loops, given innermost first by their trip
/// counts, are fused: the first group is grid x, and so on. Every loop is in a group.
///
/// Prefers one loop each for x and y and the others in z. Leaves room for `kGridHeadroom` times as
/// many blocks as planned, since the sizes at run time may be larger; if no grouping does, all
/// loops share x.
std::vector<int> group_grid(const Extents &trips, const GpuDevice &device);

/// Factor between the limit of a grid dimension and the largest planned extent.
constexpr int64_t kGridHeadroom = 4;

/// Turns the outermost level of a root stage into blocks. A loop that provably has one trip stays
/// an ordinary loop, inside the blocks; nothing is ever left around or between them. If every loop
/// has one trip, the innermost one is a block loop all the same. A stage without pure Vars runs as
/// a single thread.
void map_blocks(StagePlan &plan, const GpuDevice &device);

/// Moves the loops of the outermost level that will stay ordinary loops to its inside. To be called
/// before the loops are reordered; map_blocks relies on it.
void move_single_trips_inside_blocks(StagePlan &plan);

/// Makes threads of blocks for a root stage that would run one thread per block, or less than a
/// warp of them on less than a warp's worth of points per multiprocessor: parts of the innermost
/// block loops move to the Thread level until a warp is full. Only for stages in whose blocks
/// nothing else is computed.
void spread_blocks_over_threads(StagePlan &plan, const GpuDevice &device);

}  // namespace anderson2021
