// Hashes of a schedule down to some depth, so that passes can tell schedules apart by structure
// first and by size later.
//
// Depth 0 sees which stages are at the root, 1 also which of their loops have more than one
// iteration, 2 the sizes and what is directly inside; each further pair of depths adds one level.
// Depth -1 sees nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Hash of one child of a nest that is itself looked at with `depth`.
uint64_t child_depth_hash(const LoopNest &child, int depth);

/// Folds the hashes of the root's children, in order. Starting value: hash of the number of
/// decisions made.
class DepthHash {
public:
    explicit DepthHash(int num_decisions);
    void add(uint64_t child_hash);
    uint64_t value() const { return hash_; }

private:
    uint64_t hash_ = 0;
};

/// Of a whole schedule.
uint64_t depth_hash(const LoopNest &root, int num_decisions, int depth);

/// Hash of everything below the root, for tie-breaking and look-up: DepthHash over the structural
/// hashes of the root's children.
uint64_t full_hash(const LoopNest &root);

}  // namespace anderson2021
