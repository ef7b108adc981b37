#include "search/nest_interner.h"

#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace anderson2021 {

// Most of the memory of a search hangs on the blocks.
NestInterner::~NestInterner() {
    pool_.parallel_for(kShards,
                       [this](int64_t i) { shards_[static_cast<size_t>(i)].blocks.clear(); });
}

LoopNestPtr NestInterner::canonical(const LoopNestPtr &block) {
    const uint64_t hash = block->structural_hash();
    Shard &shard = shards_[(hash >> 48) % kShards];
    const std::lock_guard<SpinLock> lock(shard.mutex);
    const auto range = shard.blocks.equal_range(hash);
    for (auto known = range.first; known != range.second; ++known) {
        if (known->second->same_structure(*block)) {
            return known->second;
        }
    }
    shard.blocks.emplace(hash, block);
    return block;
}

LoopNestPtr NestInterner::intern(const LoopNestPtr &root, const LoopNestPtr &interned) {
    std::vector<LoopNestPtr> children = root->children;
    bool changed = false;
    for (size_t i = 0; i < children.size(); i++) {
        if (interned != nullptr && i < interned->children.size() &&
            interned->children[i] == children[i]) {
            continue;
        }
        LoopNestPtr known = canonical(children[i]);
        changed = changed || known != children[i];
        children[i] = std::move(known);
    }
    return changed ? editor_.with_children(*root, std::move(children)) : root;
}

void NestInterner::trim() {
    pool_.parallel_for(kShards, [this](int64_t i) {
        auto &blocks = shards_[static_cast<size_t>(i)].blocks;
        for (auto entry = blocks.begin(); entry != blocks.end();) {
            entry = entry->second.use_count() == 1 ? blocks.erase(entry) : std::next(entry);
        }
    });
}

size_t NestInterner::size() const {
    size_t total = 0;
    for (const Shard &shard : shards_) {
        total += shard.blocks.size();
    }
    return total;
}

}  // namespace anderson2021
