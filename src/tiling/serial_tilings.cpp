#include "tiling/serial_tilings.h"

#include <algorithm>

#include "support/error.h"

namespace anderson2021 {
namespace {

// Outer iterations along the lane dimension below which a tiling leaves half a warp idle.
constexpr int64_t kSmallOuterExtent = 16;

bool all_ones(const Extents &v) {
    return std::all_of(v.begin(), v.end(), [](int64_t e) { return e == 1; });
}

/// Serial extents that every dimension tries.
Extents default_serial_extents(int64_t extent) {
    if (extent == 3 || extent == 5 || extent == 7) {
        return {1, extent};
    }
    Extents result;
    for (const int64_t inner : {1, 2, 4, 8}) {
        if (inner <= extent) {
            result.push_back(inner);
        }
    }
    return result;
}

/// Enumerates dimension by dimension; `prefix` holds the outer extents chosen so far.
class SerialEnumerator {
public:
    SerialEnumerator(const Extents &extents, int lane, const SerialTilingOptions &options)
        : extents_(extents), lane_(lane), options_(options) {}

    std::vector<Extents> run() {
        extend();
        return std::move(result_);
    }

private:
    void extend() {
        const size_t d = prefix_.size();
        const bool is_lane = static_cast<int>(d) == lane_;
        bool whole_tried = false;
        if (is_lane) {
            for (const int64_t inner : options_.extra_lane_sizes) {
                if (append(inner, is_lane)) {
                    whole_tried = inner == extents_[d];
                }
            }
        }
        for (const int64_t inner : default_serial_extents(extents_[d])) {
            if (!(whole_tried && inner == extents_[d])) {
                append(inner, is_lane);
            }
        }
    }

    /// Tries the serial extent `inner` in the next dimension. False if it is filtered out there.
    bool append(int64_t inner, bool is_lane) {
        const int64_t extent = extents_[prefix_.size()];
        const int64_t outer = (extent + inner - 1) / inner;
        if (is_lane && options_.filter_small_outer_extents && outer < kSmallOuterExtent) {
            return false;
        }
        prefix_.push_back(outer);
        bool accepted = true;
        if (prefix_.size() < extents_.size()) {
            extend();
        } else {
            accepted = is_allowed(prefix_);
            if (accepted) {
                result_.push_back(prefix_);
            }
        }
        prefix_.pop_back();
        return accepted;
    }

    bool is_allowed(const Extents &outer) const {
        // A single task for everything is pointless.
        return !all_ones(outer) && (options_.allow_whole || outer != extents_);
    }

    const Extents &extents_;
    const int lane_;
    const SerialTilingOptions &options_;
    Extents prefix_;
    std::vector<Extents> result_;
};

}  // namespace

std::vector<Extents>
serial_tilings(const Extents &extents, int lane, const SerialTilingOptions &options) {
    for (const int64_t e : extents) {
        ANDERSON_CHECK(e > 0) << "Cannot tile an extent of " << e << ".";
    }
    for (const int64_t e : options.extra_lane_sizes) {
        ANDERSON_CHECK(e > 0) << "A serial extent of " << e << " is impossible.";
    }
    // Nothing to share out (or no dimension at all), but the Func needs some tiling.
    if (all_ones(extents)) {
        return options.allow_whole ? std::vector<Extents>{extents} : std::vector<Extents>{};
    }
    return SerialEnumerator(extents, lane, options).run();
}

}  // namespace anderson2021
