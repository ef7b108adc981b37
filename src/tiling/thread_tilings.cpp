#include "tiling/thread_tilings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace anderson2021 {
namespace {

// Largest power of two tried along the lane dimension, and along the others.
constexpr int64_t kMaxLaneThreads = 64;
constexpr int64_t kMinLaneThreads = 16;
constexpr int64_t kMaxOtherThreads = 16;
// Full extents below this are tried too.
constexpr int64_t kFullExtentLimit = 64;
// Serial iterations that may remain per dimension.
constexpr int64_t kMaxSerialExtent = 16;

int64_t divide_rounding_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

enum class Verdict { Good, TooManyThreads, TooSerial };

/// Enumerates the thread extents of the pure stage, dimension 0 outermost.
class ThreadEnumerator {
public:
    ThreadEnumerator(const std::vector<StageExtents> &stages,
                     const Extents &other_threads,
                     const ThreadTilingOptions &options,
                     const GpuDevice &device)
        : stages_(stages), other_threads_(other_threads), options_(options), device_(device) {
        const StageExtents &pure = stages.front();
        extent_.resize(pure.size.size());
        for (size_t i = 0; i < pure.size.size(); i++) {
            ANDERSON_CHECK(pure.pure_dim[i] >= 0 &&
                           pure.pure_dim[i] < static_cast<int>(extent_.size()))
                << "A loop of the pure stage has no dimension.";
            extent_[static_cast<size_t>(pure.pure_dim[i])] = pure.size[i];
        }
        if (pure.lane_loop >= 0) {
            lane_dim_ = pure.pure_dim[static_cast<size_t>(pure.lane_loop)];
        }
    }

    std::vector<Extents> run() {
        extend();
        return std::move(result_);
    }

private:
    void extend() {
        const size_t d = tiling_.size();
        if (d == extent_.size()) {
            return;
        }
        const int64_t extent = extent_[d];
        const bool is_lane = static_cast<int>(d) == lane_dim_;
        int64_t first = 1, last = kMaxOtherThreads;
        if (is_lane) {
            // A root stage of a single loop may have so few points that it needs narrow blocks.
            first = options_.root_stage && extent_.size() == 1 ? 1 : kMinLaneThreads;
            last = kMaxLaneThreads;
        }
        bool full_extent_seen = false;
        for (int64_t threads = first; threads <= extent; threads *= 2) {
            full_extent_seen = full_extent_seen || threads == extent;
            if (threads > last || (!is_lane && wastes_threads(threads, extent)) ||
                append(threads) == Verdict::TooManyThreads) {
                break;
            }
        }
        if (extent < kFullExtentLimit && !full_extent_seen) {
            append(extent);
        }
    }

    /// More than a seventh of the threads would have nothing to do.
    static bool wastes_threads(int64_t threads, int64_t extent) {
        return threads > 1 && threads * divide_rounding_up(extent, threads) * 7 > extent * 8;
    }

    /// Tries that many threads in the next dimension.
    Verdict append(int64_t threads) {
        tiling_.push_back(threads);
        Verdict verdict = Verdict::Good;
        if (tiling_.size() < extent_.size()) {
            extend();
        } else {
            verdict = judge();
            if (verdict == Verdict::Good) {
                result_.push_back(tiling_);
            }
        }
        tiling_.pop_back();
        return verdict;
    }

    /// Thread extent of one loop: that of its dimension; reductions stay serial.
    int64_t threads_of(const StageExtents &stage, size_t loop) const {
        const int dim = stage.pure_dim[loop];
        return dim < 0 ? 1 : tiling_[static_cast<size_t>(dim)];
    }

    /// Widens `all` by the threads of `stage` in the order in which they are lowered.
    void add_threads(const StageExtents &stage, Extents &all) const {
        size_t position = 0;
        const auto add = [&](int64_t threads) {
            if (threads == 1) {
                return;
            }
            if (position == all.size()) {
                all.push_back(1);
            }
            all[position] = std::max(all[position], threads);
            position++;
        };
        if (stage.lane_loop >= 0) {
            add(threads_of(stage, static_cast<size_t>(stage.lane_loop)));
        }
        for (size_t i = 0; i < stage.size.size(); i++) {
            if (static_cast<int>(i) != stage.lane_loop) {
                add(threads_of(stage, i));
            }
        }
    }

    Verdict judge() {
        Extents all = other_threads_;
        for (const StageExtents &stage : stages_) {
            add_threads(stage, all);
        }
        int64_t total = 1;
        int dims = 0;
        for (const int64_t e : all) {
            total *= e;
            dims += e != 1;
            if (total > device_.max_threads_per_block || dims > device_.max_thread_dims) {
                return Verdict::TooManyThreads;
            }
        }
        if (options_.serial_inner) {
            for (size_t d = 0; d < extent_.size(); d++) {
                if (divide_rounding_up(extent_[d], tiling_[d]) > kMaxSerialExtent) {
                    return Verdict::TooSerial;
                }
            }
        }
        return Verdict::Good;
    }

    const std::vector<StageExtents> &stages_;
    const Extents &other_threads_;
    const ThreadTilingOptions &options_;
    const GpuDevice &device_;
    /// Extents of the pure stage per dimension.
    Extents extent_;
    int lane_dim_ = -1;
    Extents tiling_;
    std::vector<Extents> result_;
};

/// How one tiling spreads the stages over the multiprocessors.
RankedTiling
rank(const Extents &tiling, const std::vector<StageExtents> &full, const Extents &outer, int sms) {
    RankedTiling ranked;
    ranked.threads = tiling;
    ranked.min_blocks = std::numeric_limits<int64_t>::max();
    for (const StageExtents &stage : full) {
        int64_t blocks = 1, available = 1;
        for (size_t i = 0; i < stage.size.size(); i++) {
            if (stage.pure_dim[i] >= 0) {
                const auto d = static_cast<size_t>(stage.pure_dim[i]);
                blocks *= divide_rounding_up(outer[d], tiling[d]);
                available *= stage.size[i];
            }
        }
        // A stage that is too small for the machine does not count if it is spread completely.
        if (available < 2 * int64_t{sms} && blocks == available) {
            continue;
        }
        ranked.min_blocks = std::min(ranked.min_blocks, blocks);
        const double per_sm = static_cast<double>(blocks) / sms;
        ranked.idle_core_waste = std::max(ranked.idle_core_waste, std::ceil(per_sm) / per_sm);
    }
    if (ranked.min_blocks == std::numeric_limits<int64_t>::max()) {
        ranked.min_blocks = 0;
    }
    return ranked;
}

/// Fewest blocks that a tiling must have: enough to keep every multiprocessor busy twice, or, if
/// no tiling has that many, the largest of parallelism, parallelism/2, ... that one reaches.
int64_t blocks_required(const std::vector<RankedTiling> &tilings, int parallelism) {
    int64_t most = 0;
    for (const RankedTiling &t : tilings) {
        most = std::max(most, t.min_blocks);
    }
    if (most >= 2 * int64_t{parallelism}) {
        return 2 * int64_t{parallelism};
    }
    int64_t limit = parallelism;
    while (limit > most) {
        limit /= 2;
    }
    return limit;
}

}  // namespace

std::vector<Extents> thread_tilings(const std::vector<StageExtents> &stages,
                                    const Extents &other_threads,
                                    const ThreadTilingOptions &options,
                                    const GpuDevice &device) {
    ANDERSON_CHECK(!stages.empty()) << "Nothing to tile.";
    return ThreadEnumerator(stages, other_threads, options, device).run();
}

std::vector<RankedTiling> rank_root_tilings(const std::vector<Extents> &tilings,
                                            const std::vector<StageExtents> &full,
                                            const Extents &outer,
                                            int parallelism) {
    ANDERSON_CHECK(parallelism > 0) << "There must be a multiprocessor.";
    std::vector<RankedTiling> all;
    all.reserve(tilings.size());
    for (const Extents &t : tilings) {
        all.push_back(rank(t, full, outer, parallelism));
    }
    const int64_t required = blocks_required(all, parallelism);
    all.erase(std::remove_if(all.begin(),
                             all.end(),
                             [&](const RankedTiling &t) { return t.min_blocks < required; }),
              all.end());
    std::stable_sort(all.begin(), all.end(), [](const RankedTiling &a, const RankedTiling &b) {
        return a.idle_core_waste < b.idle_core_waste;
    });
    return all;
}

}  // namespace anderson2021
