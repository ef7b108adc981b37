// Boxes of what a leaf reads from other Funcs along paths through inlined Funcs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "featurizer/loop_context.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// Remembers what paths have in common, since there can be very many of them.
class ReadBoxes {
public:
    explicit ReadBoxes(const LoopContext &leaf) : leaf_(leaf) {}

    /// Points of the last Func of a path that are needed for one pass over the loops in `moving`
    /// (bit j: loop j of the stage), at the representative position of all others.
    /// @param step  index into AccessPlan::steps
    int64_t points(int step, uint64_t moving);

private:
    struct Boxes {
        uint64_t moving = 0;
        SmallVector<Span, 6> loops;
        // Per step, once asked for: the Func in between that it leads to.
        std::vector<std::unique_ptr<const FuncRegion>> between;
        int last_step = -1;
        int64_t last_points = 0;
    };

    Boxes &boxes_for(uint64_t moving);
    /// Loops of the stage that reads after `step`.
    const Span *loops_after(Boxes &boxes, int step) const;

    const LoopContext &leaf_;
    SmallVector<std::shared_ptr<Boxes>, 4> boxes_;
};

}  // namespace anderson2021
