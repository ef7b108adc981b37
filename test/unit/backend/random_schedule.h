// Random complete schedule trees, by the placement and tiling rules of the search.
#pragma once

#include "schedule/loop_nest_editor.h"
#include "support/rng.h"

namespace anderson2021 {
namespace test {

struct RandomScheduleOptions {
    /// Probability that a Func that may be inlined is.
    double inline_probability = 0.3;
    int64_t max_inlined_calls = 24;
    /// Probability of going one level deeper wherever possible.
    double descend_probability = 0.7;
    /// Bytes that one Func may allocate inside a thread.
    int64_t max_thread_bytes = 2048;
    /// Bytes that all Funcs of one block may allocate outside threads.
    int64_t max_block_bytes = 40 * 1024;
};

/// Places and tiles every Func. The same seed gives the same tree.
LoopNestPtr
random_schedule(const LoopNestEditor &editor, Rng &rng, const RandomScheduleOptions &options = {});

}  // namespace test
}  // namespace anderson2021
