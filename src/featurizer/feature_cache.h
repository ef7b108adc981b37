// Features of root blocks, shared between the schedules of a search and its threads.
//
// Key: the block by value, and what the block's features depend on outside of it, the layout. A
// hash finds the entry; the entry holds block and layout themselves and compares them, so that a
// collision cannot give wrong numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "featurizer/block_features.h"
#include "schedule/loop_nest.h"

namespace anderson2021 {

/// Everything outside of a block that its features depend on, as a list of numbers.
using OutsideLayout = std::vector<int32_t>;

struct BlockKey {
    LoopNestPtr block;
    OutsideLayout layout;
    uint64_t hash = 0;
};

BlockKey make_block_key(LoopNestPtr block, OutsideLayout layout);

/// Thread-safe. Entries are immutable; when a shard is full all of it is dropped.
class FeatureCache {
public:
    /// @param max_bytes  approximate bound of the memory held
    explicit FeatureCache(size_t max_bytes) : max_bytes_per_shard_(max_bytes / kShards) {}

    /// Null if unknown.
    std::shared_ptr<const BlockFeatures> find(const BlockKey &key);
    void insert(BlockKey key, std::shared_ptr<const BlockFeatures> features);

private:
    static constexpr size_t kShards = 64;
    struct Entry {
        BlockKey key;
        std::shared_ptr<const BlockFeatures> features;
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_multimap<uint64_t, Entry> entries;
        size_t bytes = 0;
    };

    Shard &shard(uint64_t hash) { return shards_[(hash >> 48) % kShards]; }
    static std::shared_ptr<const BlockFeatures> find_in(const Shard &shard, const BlockKey &key);

    const size_t max_bytes_per_shard_;
    std::array<Shard, kShards> shards_;
};

}  // namespace anderson2021
