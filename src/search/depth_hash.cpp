#include "search/depth_hash.h"

#include <algorithm>

#include "support/hash.h"

namespace anderson2021 {

namespace {

void add_contents(uint64_t &hash, const LoopNest &nest, int depth) {
    if (depth < 0) {
        return;
    }
    std::vector<int> inlined;
    for (const InlinedCall &call : nest.inlined) {
        inlined.push_back(call.func);
    }
    std::sort(inlined.begin(), inlined.end());
    for (const int func : inlined) {
        hash_combine(hash, static_cast<uint64_t>(func));
    }
    if (depth > 0) {
        hash_combine(hash, static_cast<uint64_t>(nest.lane_loop));
        hash_combine(hash, static_cast<uint64_t>(nest.vector_dim));
    }
    hash_combine(hash, nest.children.size());
    for (const LoopNestPtr &child : nest.children) {
        hash_combine(hash, child_depth_hash(*child, depth));
    }
}

}  // namespace

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

DepthHash::DepthHash(int num_decisions) {
    hash_combine(hash_, static_cast<uint64_t>(num_decisions));
}

void DepthHash::add(uint64_t child_hash) {
    hash_combine(hash_, child_hash);
}

uint64_t depth_hash(const LoopNest &root, int num_decisions, int depth) {
    DepthHash hash(num_decisions);
    if (depth >= 0) {
        for (const LoopNestPtr &child : root.children) {
            hash.add(child_depth_hash(*child, depth));
        }
    }
    return hash.value();
}

uint64_t full_hash(const LoopNest &root) {
    DepthHash hash(0);
    for (const LoopNestPtr &child : root.children) {
        hash.add(child->structural_hash());
    }
    return hash.value();
}

}  // namespace anderson2021
