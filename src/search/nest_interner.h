// Makes equal root blocks one object, so that whatever was computed for a block (features, hashes)
// is found again in another schedule, another pass, or under another parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "schedule/loop_nest_editor.h"

namespace anderson2021 {

/// Not thread-safe: interning happens between the parallel parts of a step.
class NestInterner {
public:
    explicit NestInterner(const LoopNestEditor &editor) : editor_(editor) {}

    /// The same tree with every child of the root replaced by the first equal one that was seen.
    /// Children shared with `interned`, an earlier result, are what they should be already.
    LoopNestPtr intern(const LoopNestPtr &root, const LoopNestPtr &interned = nullptr);
    /// Forgets blocks that nobody else holds.
    void trim();
    size_t size() const { return blocks_.size(); }

private:
    LoopNestPtr canonical(const LoopNestPtr &block);

    const LoopNestEditor &editor_;
    // By structural_hash().
    std::unordered_multimap<uint64_t, LoopNestPtr> blocks_;
};

}  // namespace anderson2021
