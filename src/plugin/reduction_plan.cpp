#include "plugin/reduction_plan.h"

#include <algorithm>
#include <cmath>

namespace anderson2021 {

namespace {

constexpr int64_t kMinParts = 8;
// So that the partial results do not become the bulk of the work.
constexpr int64_t kMinStepsPerPart = 8;
// Of the partial results of one Func.
constexpr int64_t kMaxBytes = int64_t{64} << 20;
// The most that the last round does one after the other.
constexpr int64_t kLastSteps = 256;
constexpr int64_t kWarp = 32;

// Far beyond any number of interest, and far from overflow.
constexpr int64_t kLimit = int64_t{1} << 40;

int64_t limited_product(int64_t a, int64_t b) {
    return a > kLimit / std::max<int64_t>(b, 1) ? kLimit : a * b;
}

int64_t steps_of(const std::vector<ReductionLoop> &loops) {
    int64_t steps = 1;
    for (const ReductionLoop &l : loops) {
        steps = limited_product(steps, l.extent);
    }
    return steps;
}

int64_t power_of_two_up_to(int64_t n) {
    int64_t power = 1;
    while (power * 2 <= n) {
        power *= 2;
    }
    return power;
}

int64_t root_of(int64_t n) {
    return power_of_two_up_to(static_cast<int64_t>(std::sqrt(static_cast<double>(n))));
}

// Splits that come out even need no condition in the loop.
int64_t even_factor(const ReductionLoop &loop, int64_t most) {
    const int64_t power = power_of_two_up_to(most);
    if (!loop.exact || loop.extent % power == 0) {
        return power;
    }
    int64_t best = 0;
    for (int64_t factor = most; factor > most / 2; factor--) {
        if (loop.extent % factor == 0) {
            if (factor % kWarp == 0) {
                return factor;
            }
            best = std::max(best, factor);
        }
    }
    return best != 0 ? best : power;
}

SplitLoop whole(const ReductionLoop &loop) {
    SplitLoop result;
    result.var = loop.var;
    return result;
}

}  // namespace

std::string ReductionParts::name() const {
    return func + ".update(" + std::to_string(update) + ")";
}

int64_t LongReduction::steps() const {
    return steps_of(loops);
}

std::optional<LongReduction> long_reduction(const StageNode &stage, const FuncRegion &region) {
    if (stage.index == 0) {
        return std::nullopt;
    }
    LongReduction result;
    result.func = stage.func;
    result.update = stage.index - 1;
    result.region_points = region.points_computed();
    result.bytes = std::max<int64_t>(1, region.bytes_computed());
    const Span *const spans = region.loops(stage.index);
    for (size_t i = 0; i < stage.loops.size(); i++) {
        const int64_t extent = std::max<int64_t>(1, spans[i].extent());
        if (stage.loops[i].pure) {
            result.points = limited_product(result.points, extent);
        } else {
            result.loops.push_back({stage.loops[i].var, extent, spans[i].exact});
        }
    }
    if (result.points >= kFewPoints || result.steps() < kManySteps) {
        return std::nullopt;
    }
    return result;
}

std::vector<int64_t> part_counts(const LongReduction &reduction, int64_t threads) {
    const int64_t steps = reduction.steps();
    const int64_t most = std::min(steps / kMinStepsPerPart, kMaxBytes / reduction.bytes);
    std::vector<int64_t> counts;
    for (const int64_t wanted :
         {root_of(steps), threads / 16 / reduction.points, threads / reduction.points}) {
        const int64_t parts = power_of_two_up_to(std::min(most, std::max(wanted, kMinParts)));
        if (parts >= kMinParts) {
            counts.push_back(parts);
        }
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

std::vector<SplitLoop> share_parts(const std::vector<ReductionLoop> &loops,
                                   int64_t parts,
                                   bool in_runs,
                                   std::vector<ReductionLoop> &left) {
    std::vector<SplitLoop> shares;
    left.clear();
    int64_t remaining = parts;
    for (size_t i = 0; i < loops.size() && remaining > 1; i++) {
        // The order of the iterations is that of the outermost loop before all others.
        const ReductionLoop &loop = loops[in_runs ? loops.size() - 1 - i : i];
        if (loop.extent <= 1) {
            if (in_runs && !loop.exact) {
                break;
            }
            continue;
        }
        SplitLoop share = whole(loop);
        ReductionLoop kept = loop;
        if (loop.extent > remaining && in_runs) {
            share.in_runs = true;
            share.factor = (loop.extent + remaining - 1) / remaining;
            kept.extent = (loop.extent + share.factor - 1) / share.factor;
        } else if (loop.extent > remaining || (!loop.exact && !in_runs)) {
            share.factor = even_factor(loop, std::min(remaining, loop.extent));
            kept = {loop.var, share.factor, true};
        }
        remaining = share.in_runs ? 1 : remaining / kept.extent;
        shares.push_back(std::move(share));
        left.push_back(std::move(kept));
    }
    if (in_runs) {
        std::reverse(shares.begin(), shares.end());
        std::reverse(left.begin(), left.end());
    }
    if (steps_of(left) < 2 || steps_of(left) >= steps_of(loops)) {
        return {};
    }
    return shares;
}

int64_t parts_of_parts(const std::vector<ReductionLoop> &left, int64_t points) {
    const int64_t steps = steps_of(left);
    return points >= kFewPoints || steps <= kLastSteps ? 0 : root_of(steps);
}

}  // namespace anderson2021
