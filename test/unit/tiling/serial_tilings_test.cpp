#include <gtest/gtest.h>

#include "support/error.h"
#include "tiling/serial_tilings.h"

namespace anderson2021 {
namespace {

using Tilings = std::vector<Extents>;

SerialTilingOptions options(bool filter, bool whole, Extents extra = {}) {
    SerialTilingOptions o;
    o.filter_small_outer_extents = filter;
    o.allow_whole = whole;
    o.extra_lane_sizes = std::move(extra);
    return o;
}

TEST(SerialTilings, OneDimension) {
    EXPECT_EQ(serial_tilings({3}, 0, options(false, true)), (Tilings{{3}}));
    EXPECT_EQ(serial_tilings({5}, 0, options(false, true)), (Tilings{{5}}));
    EXPECT_EQ(serial_tilings({7}, 0, options(false, true)), (Tilings{{7}}));
    EXPECT_EQ(serial_tilings({8}, 0, options(false, true)), (Tilings{{8}, {4}, {2}}));
    // Extents that are no powers of two round up.
    EXPECT_EQ(serial_tilings({10}, 0, options(false, true)), (Tilings{{10}, {5}, {3}, {2}}));
}

TEST(SerialTilings, WithoutTheWhole) {
    EXPECT_EQ(serial_tilings({7}, 0, options(false, false)), Tilings{});
    EXPECT_EQ(serial_tilings({8}, 0, options(false, false)), (Tilings{{4}, {2}}));
}

TEST(SerialTilings, FilterOfSmallOuterExtentsConcernsTheLaneDimension) {
    EXPECT_EQ(serial_tilings({8}, 0, options(true, true)), Tilings{});
    EXPECT_EQ(serial_tilings({8}, 1, options(true, true)), (Tilings{{8}, {4}, {2}}));
    // 16 outer iterations are just enough.
    EXPECT_EQ(serial_tilings({32}, 0, options(true, true)), (Tilings{{32}, {16}}));
    EXPECT_EQ(serial_tilings({31}, 0, options(true, true)), (Tilings{{31}, {16}}));
    EXPECT_EQ(serial_tilings({30}, 0, options(true, true)), (Tilings{{30}}));
}

TEST(SerialTilings, ExtraLaneSizesComeFirst) {
    Tilings expected;
    for (const int64_t x : {32, 96, 48, 24, 12}) {
        for (const int64_t y : {9, 5, 3, 2}) {
            expected.push_back({x, y});
        }
    }
    EXPECT_EQ(serial_tilings({96, 9}, 0, options(false, true, {3})), expected);
}

TEST(SerialTilings, ExtraSizeEqualToTheExtentIsNotRepeated) {
    EXPECT_EQ(serial_tilings({8, 2}, 0, options(false, true, {8})),
              (Tilings{{1, 2}, {8, 2}, {8, 1}, {4, 2}, {4, 1}, {2, 2}, {2, 1}}));
}

TEST(SerialTilings, FilteredExtraSizeDoesNotHideTheDefault) {
    // As an extra size 8 leaves a single task and is dropped; so it is as a default size.
    EXPECT_EQ(serial_tilings({8}, 0, options(false, true, {8})), (Tilings{{8}, {4}, {2}}));
}

TEST(SerialTilings, OneTaskForEverythingIsLeftOut) {
    EXPECT_EQ(serial_tilings({3, 5}, 0, options(false, true)), (Tilings{{3, 5}, {3, 1}, {1, 5}}));
    EXPECT_EQ(serial_tilings({1, 2}, 0, options(false, true)), (Tilings{{1, 2}}));
}

TEST(SerialTilings, AllOnesKeepTheirOnlyTiling) {
    EXPECT_EQ(serial_tilings({1}, 0, options(false, true)), (Tilings{{1}}));
    EXPECT_EQ(serial_tilings({1, 1, 1}, 1, options(false, true)), (Tilings{{1, 1, 1}}));
    EXPECT_EQ(serial_tilings({1, 1}, 0, options(false, false)), Tilings{});
}

TEST(SerialTilings, RejectsImpossibleExtents) {
    EXPECT_THROW(serial_tilings({4, 0}, 0, options(false, true)), InternalError);
    EXPECT_THROW(serial_tilings({4}, 0, options(false, true, {0})), InternalError);
}

}  // namespace
}  // namespace anderson2021
