#include "search/depth_hash.h"

#include "support/hash.h"

namespace anderson2021 {

namespace {

uint64_t child_depth_hash(const LoopNest &child, int depth);

void add_all(uint64_t &hash, const BitSet &ids) {
    // Trailing zeros depend on the capacity, not on the value.
    size_t num_words = ids.num_words();
    while (num_words > 0 && ids.word(num_words - 1) == 0) {
        num_words--;
    }
    hash_combine(hash, num_words);
    for (size_t i = 0; i < num_words; i++) {
        hash_combine(hash, ids.word(i));
    }
}

void add_contents(uint64_t &hash, const LoopNest &nest, int depth) {
    if (depth < 0) {
        return;
    }
    BitSet inlined;
    for (const InlinedCall &call : nest.inlined) {
        inlined.insert(call.func);
    }
    add_all(hash, nest.stored_below());
    add_all(hash, inlined);
    if (depth > 0) {
        hash_combine(hash, static_cast<uint64_t>(nest.lane_loop));
        hash_combine(hash, static_cast<uint64_t>(nest.vector_dim));
    }
    hash_combine(hash, nest.children.size());
    for (const LoopNestPtr &child : nest.children) {
        hash_combine(hash, child_depth_hash(*child, depth));
    }
}

// Hash of one child of a nest that is itself looked at with `depth`.
uint64_t child_depth_hash(const LoopNest &child, int depth) {
    uint64_t hash = 0;
    if (depth < 0) {
        return hash;
    }
    hash_combine(hash, static_cast<uint64_t>(child.stage_id));
    for (const int64_t size : child.size) {
        if (depth == 1) {
            hash_combine(hash, size > 1 ? 1 : 0);
        } else if (depth > 1) {
            hash_combine(hash, static_cast<uint64_t>(size));
        }
    }
    add_contents(hash, child, depth - 2);
    return hash;
}

}  // namespace

DepthHash::DepthHash(const BitSet &placed, int num_decisions, int depth) : depth_(depth) {
    hash_combine(hash_, static_cast<uint64_t>(num_decisions));
    if (depth_ >= 0) {
        add_all(hash_, placed);
    }
}

void DepthHash::add(const LoopNest &child) {
    if (depth_ >= 0) {
        hash_combine(hash_, child_depth_hash(child, depth_));
    }
}

uint64_t depth_hash(const LoopNest &root, int num_decisions, int depth) {
    DepthHash hash(root.stored_below(), num_decisions, depth);
    for (const LoopNestPtr &child : root.children) {
        hash.add(*child);
    }
    return hash.value();
}

void FullHash::add(uint64_t child) {
    hash_combine(hash_, child);
}

uint64_t full_hash(const LoopNest &root) {
    FullHash hash;
    for (const LoopNestPtr &child : root.children) {
        hash.add(*child);
    }
    return hash.value();
}

}  // namespace anderson2021
