// Which reductions are worth splitting, and how parts are shared out among loops.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "graph_fixtures.h"
#include "plugin/reduction_plan.h"
#include "schedule/regions.h"

namespace anderson2021 {
namespace {

LongReduction reduction(std::vector<ReductionLoop> loops, int64_t points = 1, int64_t bytes = 4) {
    LongReduction r;
    r.loops = std::move(loops);
    r.points = r.region_points = points;
    r.bytes = bytes;
    return r;
}

/// "x:32" every 32nd iteration, "x/10" runs of 10, "x" whole; and the extents that are left.
std::string shares(const std::vector<ReductionLoop> &loops, int64_t parts, bool in_runs) {
    std::vector<ReductionLoop> left;
    std::string text;
    for (const SplitLoop &l : share_parts(loops, parts, in_runs, left)) {
        text += l.var + (l.factor == 0 ? "" : (l.in_runs ? "/" : ":") + std::to_string(l.factor));
        text += " ";
    }
    for (const ReductionLoop &l : text.empty() ? std::vector<ReductionLoop>() : left) {
        text += "=" + std::to_string(l.extent);
    }
    return text;
}

TEST(ShareParts, TakesEveryNthIterationOfTheInnermostLoop) {
    EXPECT_EQ(shares({{"x", 1 << 20, true}}, 1024, false), "x:1024 =1024");
    EXPECT_EQ(shares({{"x", 1 << 20, false}}, 1000, false), "x:512 =512");
}

TEST(ShareParts, PrefersFactorsThatComeOutEven) {
    EXPECT_EQ(shares({{"x", 96000, true}}, 2048, false), "x:1920 =1920");
    EXPECT_EQ(shares({{"x", 1000, true}}, 64, false), "x:50 =50");
    EXPECT_EQ(shares({{"x", 10007, true}}, 64, false), "x:64 =64") << "a prime";
    EXPECT_EQ(shares({{"x", 96000, false}}, 2048, false), "x:2048 =2048") << "known at run time";
}

TEST(ShareParts, KeepsShortLoopsAndGoesOnWithTheNextOne) {
    EXPECT_EQ(shares({{"x", 64, true}, {"y", 640, true}}, 4096, false), "x y:64 =64=64");
    EXPECT_EQ(shares({{"x", 64, true}, {"y", 640, true}}, 64, false), "x =64");
    // At run time it may be longer by far.
    EXPECT_EQ(shares({{"x", 64, false}, {"y", 640, true}}, 64, false), "x:64 =64");
    EXPECT_EQ(shares({{"x", 1, true}, {"y", 640, true}}, 64, false), "y:64 =64");
}

TEST(ShareParts, MakesRunsFromTheOutermostLoopOn) {
    EXPECT_EQ(shares({{"x", 1000, true}}, 64, true), "x/16 =63");
    EXPECT_EQ(shares({{"x", 1000, true}, {"y", 8, true}}, 64, true), "x/125 y =8=8");
    EXPECT_EQ(shares({{"x", 8, true}, {"y", 1000, true}}, 64, true), "y/16 =63");
}

TEST(ShareParts, LeavesSomethingToReduceOnBothSides) {
    EXPECT_EQ(shares({{"x", 64, true}}, 1, false), "");
    EXPECT_EQ(shares({{"x", 64, true}}, 64, false), "") << "every iteration would be a part";
    EXPECT_EQ(shares({{"x", 1, true}}, 64, false), "");
    EXPECT_EQ(shares({}, 64, false), "");
}

TEST(PartCounts, AreBetweenTheRootOfTheStepsAndAllThreads) {
    EXPECT_EQ(part_counts(reduction({{"x", 1 << 20, true}}), 80 * 1024),
              (std::vector<int64_t>{1024, 4096, 65536}));
    EXPECT_EQ(part_counts(reduction({{"x", 1 << 20, true}}, 16), 80 * 1024),
              (std::vector<int64_t>{256, 1024, 4096}));
    // Every part has some steps at least.
    EXPECT_EQ(part_counts(reduction({{"x", 2048, true}}), 80 * 1024),
              (std::vector<int64_t>{32, 256}));
}

TEST(PartCounts, AreLimitedByTheMemoryOfPartialResults) {
    EXPECT_EQ(part_counts(reduction({{"x", 1 << 20, true}}, 1, 1 << 20), 80 * 1024),
              (std::vector<int64_t>{64}));
    EXPECT_TRUE(part_counts(reduction({{"x", 1 << 20, true}}, 1, 64 << 20), 80 * 1024).empty());
}

TEST(PartsOfParts, EndWhenFewStepsAreLeft) {
    EXPECT_EQ(parts_of_parts({{"x", 256, true}}, 1), 0);
    EXPECT_EQ(parts_of_parts({{"x", 512, true}}, 1), 16);
    EXPECT_EQ(parts_of_parts({{"x", 256, true}, {"y", 256, true}}, 255), 256);
    EXPECT_EQ(parts_of_parts({{"x", 65536, true}}, 256), 0) << "enough threads";
}

TEST(LongReduction, NeverOverflows) {
    const ReductionLoop endless{"x", int64_t{1} << 31, true};
    EXPECT_EQ(reduction({endless, endless, endless}).steps(), int64_t{1} << 40);
}

}  // namespace
}  // namespace anderson2021
