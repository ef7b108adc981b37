#include <gtest/gtest.h>
#include <set>
#include <string>

#include "features/feature_matrix.h"
#include "features/schedule_features.h"

namespace anderson2021 {
namespace {

TEST(ScheduleFeatures, DefaultsOfARowNobodyWrote) {
    const ScheduleFeatures f;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        double expected = 0;
        switch (i) {
        case 50:
        case 55:
        case 56:
        case 62:
        case 63:
        case 64:
        case 65:
        case 68:
            expected = 1;
            break;
        case 52:
            expected = 1.0 / 1024;
            break;
        case 53:
            expected = 1.0 / 32;
            break;
        default:
            break;
        }
        EXPECT_EQ(f[i], expected) << i << " " << schedule_feature_name(i);
    }
}

TEST(ScheduleFeatures, PositionsThatFilesDependOn) {
    ScheduleFeatures f;
    f.inlined_calls = 101;
    f.num_scalars = 102;
    f.num_blocks = 103;
    f.num_global_mem_loads_per_block = 104;
    f.expr_branching = 105;
    EXPECT_EQ(f[18], 101);
    EXPECT_EQ(f[35], 102);
    EXPECT_EQ(f[50], 103);
    EXPECT_EQ(f[59], 104);
    EXPECT_EQ(f[72], 105);
    EXPECT_STREQ(schedule_feature_name(43), "unique_lines_read_per_point");
    EXPECT_STREQ(schedule_feature_unit(43), "lines");
}

TEST(ScheduleFeatures, NamesAreUnique) {
    std::set<std::string> names;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        names.insert(schedule_feature_name(i));
        EXPECT_FALSE(std::string(schedule_feature_meaning(i)).empty()) << i;
    }
    EXPECT_EQ(names.size(), 73u);
}

TEST(FeatureMatrix, RowsExistOnceAskedFor) {
    FeatureMatrix m(3);
    EXPECT_EQ(m.num_stages(), 3);
    EXPECT_FALSE(m.has(1));
    m.get_or_create(1).num_blocks = 12;
    EXPECT_TRUE(m.has(1));
    EXPECT_FALSE(m.has(0));
    EXPECT_EQ(m.get_or_create(1).num_blocks, 12);
    EXPECT_EQ(m.row(1).num_blocks, 12);
}

}  // namespace
}  // namespace anderson2021
