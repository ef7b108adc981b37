// Funcs that a schedule tree computes inside a kernel, but that do not fit there at every size.
//
// The cost model takes the estimates of parameters and of input sizes for constants, the compiler
// cannot. A thread has no memory for arrays of variable size: Halide would put them into global
// memory, one slice per thread, which is slow, and slices of several such arrays overlap. A block
// has memory for them, as long as they do not grow beyond it: at other sizes, or in another place
// of the image than the one that the features are about.
#pragma once

#include <optional>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Ids of the Funcs whose regions follow from the regions of the outputs alone, whatever the values
/// of parameters and the sizes of inputs.
BitSet find_funcs_following_outputs(const PipelineGraph &graph);

/// A Func computed where it does not fit.
struct MisplacedFunc {
    int func = -1;
    /// Bytes that the kernel may need per block, or the Func in a thread, and that there are.
    int64_t bytes = 0;
    int64_t limit = 0;
};

/// The allocation of `func` at `site` has a size that the text of the program determines.
bool has_exact_size(const FuncNode &func, const LoopNest &site);

/// Bytes of all Funcs that `task`, a child of the root, stores in shared memory, in the block that
/// needs most.
int64_t largest_shared_bytes(const LoopNest &task, const PipelineGraph &graph);

/// All such Funcs in `task`, a child of the root, each once. `following_outputs` is the set of
/// find_funcs_following_outputs().
std::vector<MisplacedFunc> find_misplaced_funcs(const LoopNest &task,
                                                const PipelineGraph &graph,
                                                const GpuDevice &device,
                                                const BitSet &following_outputs);

}  // namespace anderson2021
