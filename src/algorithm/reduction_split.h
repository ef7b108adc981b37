// How an update that reduces much to few points is made of partial results: first every part of the
// reduction domain by itself, by a Func of its own, then all parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anderson2021 {

/// What becomes of one loop of the reduction: its iterations, or groups of them, are the parts.
struct SplitLoop {
    std::string var;
    /// Position of the loop in the stage's dims() when it is split.
    int dims_index = 0;
    /// Of the split; 0: every iteration is a part.
    int64_t factor = 0;
    /// The parts are runs of `factor` iterations; else there are `factor` parts, and each takes
    /// every factor-th iteration.
    bool in_runs = false;
    /// Names of the two loops that a split makes.
    std::string outer, inner;
    /// Argument of the Func of partial results that tells the parts apart.
    std::string arg;

    /// The loop that is left over in the stage.
    const std::string &kept() const { return factor == 0 ? var : in_runs ? outer : inner; }
};

/// An update after which `intermediate` holds partial results, one per iteration of the kept
/// loops, and the update reduces these.
struct ReductionSplit {
    /// Ids in the graph of the pipeline that results.
    int func = -1;
    int intermediate = -1;
    /// From 0.
    int update = 0;
    /// Innermost first. Loops that are not listed are reduced in the intermediate Func.
    std::vector<SplitLoop> loops;
};

}  // namespace anderson2021
