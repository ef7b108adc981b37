// Hashes of a schedule down to some depth, so that passes can tell schedules apart by structure
// first and by size later.
//
// Depth 0 sees which Funcs have loops of their own and which stages are at the root, 1 also which
// loops there have more than one iteration, 2 the sizes and what is directly inside; each further
// pair of depths adds one level. Depth -1 sees nothing.
#pragma once

#include <cstdint>

#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Hash of a schedule, made from those of the root's children.
class DepthHash {
public:
    /// @param placed  Funcs with loops of their own, anywhere
    DepthHash(const BitSet &placed, int num_decisions, int depth);

    /// The next child.
    void add(const LoopNest &child);
    uint64_t value() const { return hash_; }

private:
    int depth_;
    uint64_t hash_ = 0;
};

/// Of a whole schedule.
uint64_t depth_hash(const LoopNest &root, int num_decisions, int depth);

/// Hash of everything below the root, for tie-breaking and look-up. Made from the structural hashes
/// of the root's children.
class FullHash {
public:
    void add(const LoopNest &child) { add(child.structural_hash()); }
    /// A child by its structural hash.
    void add(uint64_t child);
    uint64_t value() const { return hash_; }

private:
    uint64_t hash_ = 0;
};

uint64_t full_hash(const LoopNest &root);

}  // namespace anderson2021
