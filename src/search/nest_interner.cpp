#include "search/nest_interner.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

LoopNestPtr NestInterner::canonical(const LoopNestPtr &block) {
    std::vector<LoopNestPtr> &bucket = blocks_[block->structural_hash()];
    for (const LoopNestPtr &known : bucket) {
        if (known->same_structure(*block)) {
            return known;
        }
    }
    bucket.push_back(block);
    size_++;
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
    size_ = 0;
    for (auto bucket = blocks_.begin(); bucket != blocks_.end();) {
        std::vector<LoopNestPtr> &nests = bucket->second;
        nests.erase(std::remove_if(nests.begin(),
                                   nests.end(),
                                   [](const LoopNestPtr &n) { return n.use_count() == 1; }),
                    nests.end());
        size_ += nests.size();
        bucket = nests.empty() ? blocks_.erase(bucket) : std::next(bucket);
    }
}

}  // namespace anderson2021
