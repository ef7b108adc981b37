// Makes equal root blocks one object, so that whatever was computed for a block (features, hashes)
// is found again in another schedule, another pass, or under another parent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "schedule/loop_nest_editor.h"
#include "support/spin_lock.h"
#include "support/thread_pool.h"

namespace anderson2021 {

/// Which of two equal blocks becomes the one may depend on the timing of threads; nothing but the
/// speed depends on that.
class NestInterner {
public:
    NestInterner(const LoopNestEditor &editor, ThreadPool &pool) : editor_(editor), pool_(pool) {}
    ~NestInterner();
    NestInterner(const NestInterner &) = delete;
    NestInterner &operator=(const NestInterner &) = delete;

    /// The same tree with every child of the root replaced by the first equal one that was seen.
    /// Children shared with `interned`, an earlier result, are what they should be already. Safe
    /// from any thread.
    LoopNestPtr intern(const LoopNestPtr &root, const LoopNestPtr &interned = nullptr);
    /// Forgets blocks that nobody else holds.
    void trim();
    size_t size() const;

private:
    static constexpr size_t kShards = 64;
    struct Shard {
        SpinLock mutex;
        // By structural_hash().
        std::unordered_multimap<uint64_t, LoopNestPtr> blocks;
    };

    LoopNestPtr canonical(const LoopNestPtr &block);

    const LoopNestEditor &editor_;
    ThreadPool &pool_;
    std::array<Shard, kShards> shards_;
};

}  // namespace anderson2021
