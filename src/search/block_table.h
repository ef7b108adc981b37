// Features of root blocks in the form in which the search needs them, shared by all schedules,
// passes and threads.
//
// A block's rows do not depend on the rest of the schedule but for the bytes stored in the whole
// program, and for the layout of what the block reads from outside. So a block is featurized once
// per layout, narrowed to what the network reads, and judged by the rules; a schedule is a list of
// such blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "features/stage_row.h"
#include "featurizer/featurizer.h"
#include "pruning/pruner.h"
#include "schedule/loop_nest.h"
#include "support/pool.h"
#include "support/spin_lock.h"
#include "support/thread_pool.h"

namespace anderson2021 {

/// One block in one surrounding. Immutable.
struct BlockRecord {
    LoopNestPtr block;
    OutsideLayout layout;
    /// Funcs in the layout that are not placed yet: once one of them is, the layout changes.
    BitSet open;
    /// Set if a Func in the block cannot live in registers. There is nothing else then.
    std::optional<int> unpromotable_func;

    /// Rows of the stages with nests in the block, complete but for the root's working set. The
    /// first is that of the block's own stage.
    std::vector<StageRow, PoolAllocator<StageRow>> rows;
    /// Funcs inlined into the block, and their rows if they are inlined nowhere else.
    std::vector<InlinedSums> inlined;
    std::vector<StageRow, PoolAllocator<StageRow>> inlined_rows;
    /// Bytes stored inside of the block.
    double working_set = 0;
    /// Bytes that the block stores at the root, those of its own Func, counted with its pure stage.
    double bytes_at_root = 0;
    /// Stages that do so much work again that only exempt Funcs may, in no particular order. What
    /// is inlined elsewhere as well is not counted in.
    struct Excess {
        int stage_id = -1;
        Rejection rejection;
    };
    std::vector<Excess> excesses;
    /// Every feature is a finite number.
    bool finite = true;
};

using BlockRecordPtr = std::shared_ptr<const BlockRecord>;

/// Approximate heap bytes of a child of the root.
size_t approximate_bytes_of_block(const LoopNest &block);
/// The same of a record, its block included.
size_t approximate_bytes(const BlockRecord &record);

/// Makes and remembers records. Safe from any thread.
class BlockTable {
public:
    /// @param max_bytes  approximate bound of the memory held
    BlockTable(const PipelineGraph &graph, const Featurizer &featurizer, size_t max_bytes);

    /// Record of child `child` of `root`, which follows the graph order.
    BlockRecordPtr get(const LoopNestPtr &root, size_t child, const RootPlacement &placement);
    /// The same without any memory.
    BlockRecordPtr
    make(const LoopNestPtr &root, size_t child, const RootPlacement &placement) const;
    /// Row of an inlined Func, complete but for the root's working set.
    StageRow inlined_row(const InlinedSums &sums) const;

    /// Forgets everything.
    void clear(ThreadPool &pool);
    int64_t hits() const { return hits_.load(std::memory_order_relaxed); }
    int64_t misses() const { return misses_.load(std::memory_order_relaxed); }

private:
    static constexpr size_t kShards = 64;
    struct Shard {
        SpinLock mutex;
        std::unordered_multimap<uint64_t, BlockRecordPtr> records;
        size_t bytes = 0;
    };

    BlockRecordPtr
    make(const LoopNestPtr &root, size_t child, Featurizer::Surroundings surroundings) const;
    StageRow narrow(int stage_id, const ScheduleFeatures &features) const;
    Shard &shard(uint64_t hash) { return shards_[(hash >> 48) % kShards]; }
    static BlockRecordPtr find(const Shard &shard, const BlockKey &key);

    const PipelineGraph &graph_;
    const Featurizer &featurizer_;
    const size_t max_bytes_per_shard_;
    // Place in record order per stage; -1 for inputs.
    std::vector<int> position_;
    std::array<Shard, kShards> shards_;
    std::atomic<int64_t> hits_{0}, misses_{0};
};

}  // namespace anderson2021
