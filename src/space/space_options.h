// What the moves are allowed to propose, decoded from the user's options once per pass.
#pragma once

#include "support/options.h"

namespace anderson2021 {

struct SpaceOptions {
    bool compute_root = true;
    bool inlining = true;
    bool compute_at_block = true;
    bool compute_at_thread = true;
    /// Fuse at most one level below the root: never into a thread or a serial loop.
    bool one_level = false;
    /// Multiprocessors that the root blocks are spread over.
    int parallelism = 16;

    /// As the user asked for.
    static SpaceOptions from(const Options &options) {
        SpaceOptions s;
        s.compute_root = options.allow_compute_root();
        s.inlining = options.allow_inline();
        s.compute_at_block = options.allow_compute_at_block();
        s.compute_at_thread = options.allow_compute_at_thread();
        s.one_level = options.disable_subtiling != 0;
        s.parallelism = static_cast<int>(options.parallelism);
        return s;
    }

    /// The same without fusion: whatever is allowed of inlining and the root.
    SpaceOptions without_fusion() const {
        SpaceOptions s = *this;
        s.compute_at_block = false;
        s.compute_at_thread = false;
        return s;
    }
};

}  // namespace anderson2021
