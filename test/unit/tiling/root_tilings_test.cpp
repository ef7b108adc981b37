// Counts of root tilings of a pipeline with a single pointwise Func, as observed with the original
// plugin: serial tilings, thread tilings and their ranking combined as the search combines them.
#include <gtest/gtest.h>
#include <numeric>
#include <string>

#include "tiling/serial_tilings.h"
#include "tiling/thread_tilings.h"

namespace anderson2021 {
namespace {

constexpr int kLane = 0;

StageExtents stage_of(const Extents &size) {
    StageExtents s;
    s.size = size;
    s.pure_dim.resize(size.size());
    std::iota(s.pure_dim.begin(), s.pure_dim.end(), 0);
    s.lane_loop = kLane;
    return s;
}

Extents extra_lane_sizes(int64_t lane_extent) {
    Extents extra;
    for (const int64_t e : {3, 5, 7}) {
        if (lane_extent % 32 == 0 && lane_extent / 32 % e == 0) {
            extra.push_back(e);
        }
    }
    return extra;
}

/// The loop around the innermost level has at most 16 iterations.
bool serial_loop_is_short(const Extents &extents, const Extents &outer) {
    int64_t points = 1;
    for (size_t d = 0; d < extents.size(); d++) {
        points *= (extents[d] + outer[d] - 1) / outer[d];
    }
    return points <= 16;
}

struct Counts {
    size_t serial = 0;
    int generated = 0;
    int accepted = 0;
};

Counts count_root_tilings(const Extents &extents, int parallelism) {
    SerialTilingOptions serial_options;
    serial_options.extra_lane_sizes = extra_lane_sizes(extents[kLane]);
    ThreadTilingOptions thread_options;
    thread_options.root_stage = true;
    Counts counts;
    const auto serial = serial_tilings(extents, kLane, serial_options);
    counts.serial = serial.size();
    for (const auto &outer : serial) {
        const auto threads = thread_tilings({stage_of(outer)}, {1, 1, 1}, thread_options, {});
        double previous = 0;
        for (const RankedTiling &t :
             rank_root_tilings(threads, {stage_of(extents)}, outer, parallelism)) {
            if (counts.accepted > 0 && t.idle_core_waste > 1.2 && t.idle_core_waste != previous) {
                break;
            }
            previous = t.idle_core_waste;
            counts.generated++;
            counts.accepted += serial_loop_is_short(extents, outer);
        }
    }
    return counts;
}

struct Row {
    Extents extents;
    size_t serial;
    int generated_80, accepted_80;
    int generated_16, accepted_16;
};

class RootTilings : public ::testing::TestWithParam<Row> {};

TEST_P(RootTilings, Counts) {
    const Row &row = GetParam();
    const Counts wide = count_root_tilings(row.extents, 80);
    EXPECT_EQ(wide.serial, row.serial);
    EXPECT_EQ(wide.generated, row.generated_80);
    EXPECT_EQ(wide.accepted, row.accepted_80);
    const Counts narrow = count_root_tilings(row.extents, 16);
    EXPECT_EQ(narrow.generated, row.generated_16);
    EXPECT_EQ(narrow.accepted, row.accepted_16);
}

INSTANTIATE_TEST_SUITE_P(
    SingleFunc,
    RootTilings,
    ::testing::Values(Row{{2048, 2048}, 16, 225, 192, 240, 195},
                      Row{{1530, 2554}, 16, 235, 195, 240, 195},
                      Row{{1000, 1000}, 16, 177, 162, 239, 195},
                      Row{{10, 2048}, 16, 24, 23, 76, 63},
                      Row{{256}, 4, 1, 1, 10, 10},
                      Row{{100000}, 5, 34, 34, 35, 35},
                      Row{{96, 96, 3}, 40, 58, 53, 225, 208},
                      Row{{1920, 1080, 3}, 48, 970, 606, 1007, 606},
                      Row{{3, 5}, 3, 1, 1, 1, 1},
                      Row{{8, 9, 10, 5, 3, 2, 6}, 1536, 6860, 2659, 18752, 3850}),
    [](const ::testing::TestParamInfo<Row> &tested) {
        std::string name;
        for (const int64_t e : tested.param.extents) {
            name += (name.empty() ? "" : "x") + std::to_string(e);
        }
        return name;
    });

}  // namespace
}  // namespace anderson2021
