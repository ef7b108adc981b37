#include "featurizer/feature_cache.h"

#include <utility>

#include "support/hash.h"

namespace anderson2021 {

namespace {

size_t approximate_bytes(const BlockKey &key, const BlockFeatures &features) {
    // Nests are shared with other schedules more often than not; count a few for the entry.
    constexpr size_t fixed = 1024;
    return fixed + key.layout.size() * sizeof(int32_t) + features.rows.size() * sizeof(BlockRow) +
           features.inlined.size() * sizeof(InlinedSums);
}

}  // namespace

BlockKey make_block_key(LoopNestPtr block, OutsideLayout layout) {
    BlockKey key{std::move(block), std::move(layout), 0};
    key.hash = key.block->structural_hash();
    for (const int32_t x : key.layout) {
        hash_combine(key.hash, static_cast<uint64_t>(static_cast<uint32_t>(x)));
    }
    return key;
}

std::shared_ptr<const BlockFeatures> FeatureCache::find_in(const Shard &shard,
                                                           const BlockKey &key) {
    const auto range = shard.entries.equal_range(key.hash);
    for (auto it = range.first; it != range.second; ++it) {
        const BlockKey &known = it->second.key;
        if (known.layout == key.layout && known.block->same_structure(*key.block)) {
            return it->second.features;
        }
    }
    return nullptr;
}

std::shared_ptr<const BlockFeatures> FeatureCache::find(const BlockKey &key) {
    Shard &s = shard(key.hash);
    const std::lock_guard<std::mutex> lock(s.mutex);
    return find_in(s, key);
}

void FeatureCache::insert(BlockKey key, std::shared_ptr<const BlockFeatures> features) {
    Shard &s = shard(key.hash);
    const std::lock_guard<std::mutex> lock(s.mutex);
    if (find_in(s, key) != nullptr) {
        return;  // another thread was faster
    }
    const size_t bytes = approximate_bytes(key, *features);
    if (s.bytes + bytes > max_bytes_per_shard_) {
        s.entries.clear();
        s.bytes = 0;
    }
    s.bytes += bytes;
    const uint64_t hash = key.hash;
    s.entries.emplace(hash, Entry{std::move(key), std::move(features)});
}

}  // namespace anderson2021
