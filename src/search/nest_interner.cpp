#include "search/nest_interner.h"

#include <iterator>
#include <utility>
#include <vector>

namespace anderson2021 {

LoopNestPtr NestInterner::canonical(const LoopNestPtr &block) {
    const auto range = blocks_.equal_range(block->structural_hash());
    for (auto known = range.first; known != range.second; ++known) {
        if (known->second->same_structure(*block)) {
            return known->second;
        }
    }
    blocks_.emplace(block->structural_hash(), block);
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
    for (auto entry = blocks_.begin(); entry != blocks_.end();) {
        entry = entry->second.use_count() == 1 ? blocks_.erase(entry) : std::next(entry);
    }
}

}  // namespace anderson2021
