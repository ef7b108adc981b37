// The schedule tree. The root stands for the whole program; every other nest is one tiling level of
// one stage of one Func. Nests are immutable and shared between the schedules of a search.
//
// Order of children: the nest's own next level first, then the stages of each fused Func in the
// order in which Funcs were placed (consumers before producers), last update first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "schedule/regions.h"
#include "support/bit_set.h"
#include "support/small_vector.h"

namespace anderson2021 {

/// What a level is mapped to.
enum class GpuAxis : uint8_t { None, Parallelized, Block, Thread, Serial, Simd };

/// "none", "parallelized", "block", "thread", "serial", "simd".
const char *gpu_axis_name(GpuAxis axis);

class LoopNest;
using LoopNestPtr = std::shared_ptr<const LoopNest>;

/// Number of calls per point of a Func inlined into a leaf.
struct InlinedCall {
    int func = -1;
    int64_t calls = 0;
};

/// Plain data of a nest; turned into a LoopNest by LoopNest::publish.
struct LoopNestData {
    /// -1 at the root.
    int func = -1;
    int stage_index = -1;
    int stage_id = -1;
    /// Trip counts of this level per loop of the stage, innermost loop first.
    Extents size;
    std::vector<LoopNestPtr> children;
    /// Leaf of its stage; all sizes are 1.
    bool innermost = false;
    /// Parallelized and Block levels.
    bool parallel = false;
    GpuAxis axis = GpuAxis::None;
    /// Innermost storage dimension of the Func.
    int vector_dim = -1;
    /// Loop over vector_dim; -1 if the stage has none.
    int lane_loop = -1;
    /// Leaves only, in order of insertion: Funcs inlined here.
    std::vector<InlinedCall> inlined;
    NestRegionsPtr regions;
};

/// Immutable node of the schedule tree.
class LoopNest : public LoopNestData {
public:
    /// Derives the facts below from the data; afterwards nothing changes any more.
    static LoopNestPtr publish(const PipelineGraph &graph, LoopNestData data);

    bool is_root() const { return func < 0; }
    /// Serial number, unique in the process; copies get a new one. For caches only: never order by
    /// it where a result could depend on it.
    uint64_t id() const { return id_; }
    /// Hash of the whole subtree by value: sizes, axes, vector dimensions, inlined Funcs, children.
    uint64_t structural_hash() const { return hash_; }
    /// Equal subtrees by value (regions follow from the graph and are not compared).
    bool same_structure(const LoopNest &other) const;

    /// The Func has a nest in this subtree (this one included), or is inlined in one of its leaves.
    bool computes(int f) const { return computed_.contains(f); }
    /// An edge of `f` ends at this subtree: at a stage with a nest here or at a Func inlined here.
    bool calls(int f) const { return called_.contains(f); }
    /// Some nest in this subtree (this one included) is a Thread level.
    bool has_thread_level() const { return has_thread_; }
    /// Funcs stored in this nest, by id: those of the children that start there.
    const SmallVector<int, 2> &store_set() const { return store_set_; }
    /// Funcs of all nests in this subtree that start below this nest (compute site here or deeper).
    std::vector<int> store_set_with_descendants() const;
    /// Calls fn(f) for the Funcs of store_set(), or of store_set_with_descendants(), by id.
    template<typename Fn>
    void for_each_stored(bool with_descendants, Fn fn) const {
        if (with_descendants) {
            stored_below_.for_each(fn);
            return;
        }
        for (const int f : store_set_) {
            fn(f);
        }
    }
    /// store_set_with_descendants() as a set.
    const BitSet &stored_below() const { return stored_below_; }
    /// What computes() and calls() look up.
    const BitSet &computed() const { return computed_; }
    const BitSet &called() const { return called_; }

    /// Product of all sizes.
    int64_t iterations() const { return iterations_; }
    int64_t num_inlined_calls(int f) const;
    /// Nests in this subtree, this one included.
    size_t num_nests() const { return num_nests_; }

    /// Sizes as lowered: the lane loop first if its size exceeds 1, then every other size > 1.
    Extents lowered_sizes() const;
    /// Elementwise maximum of the lowered sizes of all Thread levels under a Block nest, starting
    /// from (1, 1, 1), longer lists extending it.
    Extents union_thread_extents() const;

private:
    struct Key {
        explicit Key() = default;
    };

public:
    /// Only for publish(), which has the key.
    LoopNest(Key, LoopNestData data) : LoopNestData(std::move(data)) {}

private:
    uint64_t id_ = 0;
    uint64_t hash_ = 0;
    int64_t iterations_ = 1;
    size_t num_nests_ = 1;
    BitSet computed_, called_, stored_below_;
    bool has_thread_ = false;
    SmallVector<int, 2> store_set_;
};

}  // namespace anderson2021
