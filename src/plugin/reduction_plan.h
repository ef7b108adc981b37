// Which reductions run in few threads, and into how many parts they could be split: numbers alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "algorithm/reduction_split.h"
#include "schedule/func_region.h"

namespace anderson2021 {

/// A loop of a reduction domain.
struct ReductionLoop {
    std::string var;
    /// By the estimates.
    int64_t extent = 1;
    /// The extent is the same at any run.
    bool exact = false;
};

/// A stage that takes many steps one after the other in each of few threads.
struct LongReduction {
    int func = -1;
    /// From 0.
    int update = 0;
    /// Points that can be reduced at the same time.
    int64_t points = 1;
    /// Of the whole Func: what each partial result takes.
    int64_t region_points = 1;
    int64_t bytes = 1;
    /// Innermost first.
    std::vector<ReductionLoop> loops;

    /// Steps per point; never overflows.
    int64_t steps() const;
};

/// Into about how many parts an update is split.
struct ReductionParts {
    std::string func;
    /// From 0.
    int update = 0;
    int64_t parts = 1;

    /// E.g. "sum.update(0)".
    std::string name() const;
};

/// Below this many points a reduction has too few threads to be left alone.
constexpr int64_t kFewPoints = 256;
/// With fewer steps than this, another kernel takes longer than it saves.
constexpr int64_t kManySteps = 1024;

/// Nothing if `stage` has enough points or few steps. `region` is that of its Func at the root.
std::optional<LongReduction> long_reduction(const StageNode &stage, const FuncRegion &region);

/// Numbers of parts that are worth comparing, in ascending order; may be none.
/// @param threads  that keep the whole GPU busy
std::vector<int64_t> part_counts(const LongReduction &reduction, int64_t threads);

/// One round of a split: loops that make about `parts` parts, at most so many. Empty if that is not
/// possible. Only `var`, `factor` and `in_runs` are set. `left` receives the loops over the parts.
/// @param in_runs  the parts have to be runs of successive iterations
std::vector<SplitLoop> share_parts(const std::vector<ReductionLoop> &loops,
                                   int64_t parts,
                                   bool in_runs,
                                   std::vector<ReductionLoop> &left);

/// Into how many parts the reduction of the parts should be split in its turn; 0: not at all.
/// @param points  of the result
int64_t parts_of_parts(const std::vector<ReductionLoop> &left, int64_t points);

}  // namespace anderson2021
