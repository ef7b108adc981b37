// Where every stage is computed and stored in a (completed) tree.
//
// A placed Func is stored where it is computed. A Func that is not placed yet gets an optimistic
// guess: as deep below all its consumers as its region still shrinks and fits the memory there.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/gpu_device.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Memory class of a Func. Local is a passing state: such Funcs end up in Registers or fail.
enum class MemoryType : uint8_t { Global, Shared, Local, Registers, Inlined };

/// Sites of one stage. Unset pointers are null.
struct Site {
    /// Nest whose children include the stage's outermost nest.
    const LoopNest *compute = nullptr;
    /// The stage's outermost nest; for an inlined Func the last leaf that it is inlined into.
    const LoopNest *produce = nullptr;
    const LoopNest *innermost = nullptr;
    const LoopNest *store = nullptr;
    /// Child of the root that contains the stage.
    const LoopNest *task = nullptr;
    MemoryType memory = MemoryType::Global;
    bool inlined = false;
    /// Leaves that the Func is inlined into, in walk order.
    SmallVector<const LoopNest *, 2> leaves;
    /// Funcs that are not placed: how often the guessed site allocates; 1 for inputs and for
    /// outputs not placed yet. 0 for all others.
    int64_t num_realizations = 0;
    /// The Func has nests of its own.
    bool scheduled = false;

    bool is_stored_at_root() const { return store != nullptr && store->is_root(); }
};

/// Why a tree has no sites: a Func stored in a thread that cannot live in registers.
struct PromotionFailure {
    int func = -1;
};

/// Parents of all nests of a tree and the product of iterations of their proper ancestors.
struct NestPlace {
    const LoopNest *parent = nullptr;
    int depth = 0;
    /// Product of the iterations of all proper ancestors.
    int64_t instances = 1;
    /// Product of `instances` and the nest's own iterations.
    int64_t sub_instances = 1;
};

class Sites {
public:
    /// Sites of all stages of `root` (a feature view). With `reference_features` every ancestor of
    /// a compute site stores the Func too, so that everything is global.
    ///
    /// Sets failure() if a Func placed in a thread cannot be promoted to registers.
    Sites(const PipelineGraph &graph,
          const LoopNest &root,
          const GpuDevice &device,
          bool reference_features);

    /// Sites as far as they matter for what is computed in `block`, the completed form of one of
    /// the children of `root`: those of the stages in the block, of all Funcs placed at the root,
    /// and of the Funcs in `open`, which are not placed yet and needed, directly or through each
    /// other, by the block. The work depends on the size of the block, not on that of the whole
    /// tree.
    ///
    /// Children of the root other than `unblocked` need not be completed.
    Sites(const PipelineGraph &graph,
          const LoopNest &root,
          const LoopNest &unblocked,
          const LoopNest &block,
          const BitSet &open,
          const GpuDevice &device);

    const Site &of(int stage_id) const { return sites_[static_cast<size_t>(stage_id)]; }
    const NestPlace &place(const LoopNest *nest) const;
    /// Bytes of shared memory that the Block nest allocates, guesses for unscheduled Funcs
    /// included.
    int64_t shared_total(const LoopNest *block) const;
    /// If set, Funcs that are not placed and inputs have no sites.
    const std::optional<PromotionFailure> &failure() const { return failure_; }

private:
    friend class SitesBuilder;

    const PipelineGraph &graph_;
    std::vector<Site> sites_;
    // Sorted by address, for looking up only.
    std::vector<std::pair<const LoopNest *, NestPlace>> places_;
    std::unordered_map<const LoopNest *, int64_t> shared_total_;
    std::optional<PromotionFailure> failure_;
};

}  // namespace anderson2021
