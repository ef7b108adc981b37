// What the loads and the store of one leaf have in common: how far a thread moves per step, which
// loops of the stage the threads run along, and how wide accesses can be.
#pragma once

#include <cstdint>
#include <vector>

#include "device/memory_traffic.h"
#include "featurizer/loop_context.h"

namespace anderson2021 {

class LeafAccess {
public:
    explicit LeafAccess(const LoopContext &leaf);

    const LoopContext &leaf() const { return leaf_; }
    /// Iterations of each loop of the stage that one thread runs; empty outside of threads.
    const Extents &serial_extents() const { return serial_extents_; }

    /// Addresses of an access by one serial iteration of the threads.
    /// @param jacobian  by the loops of the stage
    /// @param per_thread  the jacobian's columns already are steps of a whole thread
    /// @param storage  regions of the accessed Func at its store site
    /// @param innermost  its innermost storage dimension
    WarpAccess warp_access(const AccessJacobian &jacobian,
                           bool per_thread,
                           const FuncRegion &storage,
                           int innermost) const;

    /// Elements that one access along storage dimension `dim` can move at once: the widest loop
    /// that walks that dimension, and no other, one by one.
    int64_t vector_width(const AccessJacobian &jacobian, int dim) const;

private:
    const LoopContext &leaf_;
    Extents serial_extents_;
    // Per thread dimension: loop of the stage with the same variable, or -1.
    SmallVector<int, 4> thread_loops_;
};

/// Memory transactions of the loads of a leaf.
struct LoadTraffic {
    MemoryTraffic global;
    MemoryTraffic shared;
};

/// Adds what the stage reads from other Funcs. `unrolled` = the loops around the leaf are unrolled.
void add_loads(const LeafAccess &access, bool unrolled, LoadTraffic &loads);

/// What the stage writes to its own Func; nothing if that is in registers or has no dimensions.
MemoryTraffic count_stores(const LeafAccess &access);

}  // namespace anderson2021
