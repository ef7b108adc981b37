// Small schedules, each made for one detail of how memory transactions are counted; numbers worked
// out by hand.
#include <gtest/gtest.h>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

/// A block of one-dimensional `out` with `threads` x `serial` points.
std::string nests_of_out(int64_t blocks, int64_t threads, int64_t serial) {
    return "out " + std::to_string(blocks) + " (0, 0) t gpu_block\n out " +
           std::to_string(threads) + " (0, 0) t gpu_thread\n  out " + std::to_string(serial) +
           " (0, 0) t gpu_serial\n   out 1v (0, 0) * gpu_simd\n";
}

std::string nests_of_root_func(const std::string &f, int64_t points) {
    return f + " 1 (0, 0) t gpu_block\n " + f + " 1 (0, 0) t gpu_thread\n  " + f + " " +
           std::to_string(points) + " (0, 0) t gpu_serial\n   " + f + " 1v (0, 0) * gpu_simd\n";
}

struct WidthCase {
    int64_t serial, bytes;
    double transactions;
};

// g is stored in shared memory by 32 threads and read by as many, `serial` neighbours each. An
// access is up to four points or 16 bytes wide, but only if that divides the loop, or the loop it.
TEST(TransactionDetails, WidthOfSharedAccesses) {
    for (const WidthCase &c : {WidthCase{6, 4, 6 * 2},
                               WidthCase{3, 4, 3 * 1},
                               WidthCase{2, 4, 1 * 2},
                               WidthCase{8, 4, 2 * 8},
                               WidthCase{4, 8, 2 * 8},
                               WidthCase{8, 1, 2 * 2}}) {
        GraphBuilder b;
        b.func("out", {"x"}).output({4 * 32 * c.serial}).bytes_per_point(c.bytes);
        b.reads("g", {at("x")});
        b.func("g", {"x"}).bytes_per_point(c.bytes);
        const FeaturizerFixture fixture(b.build());
        const std::string serial = std::to_string(c.serial);
        const FeatureMatrix m = fixture.featurize("out 4 (0, 0) t gpu_block\n"
                                                  " g 32 (0, 0) t gpu_thread\n"
                                                  "  g " +
                                                  serial +
                                                  " (0, 0) t gpu_serial\n"
                                                  "   g 1v (0, 0) * gpu_simd\n"
                                                  " out 32 (0, 0) t gpu_thread\n"
                                                  "  out " +
                                                  serial +
                                                  " (0, 0) t gpu_serial\n"
                                                  "   out 1v (0, 0) * gpu_simd\n");
        EXPECT_EQ(m.row(1).num_shared_mem_stores_per_block, c.transactions) << c.serial;
        EXPECT_EQ(m.row(0).num_shared_mem_loads_per_block, c.transactions) << c.serial;
    }
}

TEST(TransactionDetails, WideAccessesAlongTheStorage) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({16, 128}).reads("g", {at("x"), at("y")});
    b.func("g", {"x", "y"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 16 1 (1, 1) t gpu_block\n"
                                              " g 1 32 (1, 1) t gpu_thread\n"
                                              "  g 1 4 (1, 1) t gpu_serial\n"
                                              "   g 1 1v (1, 1) * gpu_simd\n"
                                              " out 1 32 (1, 1) t gpu_thread\n"
                                              "  out 1 4 (1, 1) t gpu_serial\n"
                                              "   out 1 1v (1, 1) * gpu_simd\n");
    // One access of four points; every fourth word is in one of 8 banks.
    EXPECT_EQ(m.row(0).num_shared_mem_loads_per_block, 4);
    EXPECT_EQ(m.row(1).num_shared_mem_stores_per_block, 4);
}

// The innermost dimension has one element only, so neighbours are those along the next one.
TEST(TransactionDetails, WideStoresAlongTheFirstLongDimension) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({32, 64}).reads("g", {at("x"), at("y")});
    b.func("g", {"x", "y"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 32 1 (0, 0) t gpu_block\n"
                                              " g 1 16 (0, 0) t gpu_thread\n"
                                              "  g 1 4 (0, 0) t gpu_serial\n"
                                              "   g 1v 1 (0, 0) * gpu_simd\n"
                                              " out 1 16 (0, 0) t gpu_thread\n"
                                              "  out 1 4 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(1).num_shared_mem_stores_per_block, 2);
    // Loads are wide along the innermost dimension only.
    EXPECT_EQ(m.row(0).num_shared_mem_loads_per_block, 4 * 2);
}

TEST(TransactionDetails, DiagonalAccessesAreNarrow) {
    GraphBuilder b;
    b.func("out", {"x"}).output({128}).reads("g", {at("x"), at("x")});
    b.func("g", {"x", "y"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 4 (0, 0) t gpu_block\n"
                                              " g 8 8 (0, 0) t gpu_thread\n"
                                              "  g 4 4 (0, 0) t gpu_serial\n"
                                              "   g 1v 1 (0, 0) * gpu_simd\n"
                                              " out 8 (0, 0) t gpu_thread\n"
                                              "  out 4 (0, 0) t gpu_serial\n"
                                              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(0).num_shared_mem_loads_per_block, 4);
}

// Two serial points read one point of g: the box is that of both, from the first one on.
TEST(TransactionDetails, UnrolledLoopsShareABox) {
    GraphBuilder b;
    b.func("out", {"x"}).output({256}).reads("g", {divided("x", 2)});
    b.func("g", {"x"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m =
        fixture.featurize(nests_of_root_func("g", 128) + nests_of_out(4, 32, 2));
    EXPECT_EQ(m.row(0).num_global_mem_loads_per_block, 4);
}

// 32 serial points are too many to unroll: 32 boxes like the one of the middle iteration, y = 528,
// which reaches from y / 2 to y - 8. The second access reads fewer points than its box has.
TEST(TransactionDetails, LoopsThatAreNotUnrolledReadABoxEach) {
    GraphBuilder b;
    b.func("out", {"y"}).output({1024});
    b.reads("g", {divided("y", 2)}, 400).reads("g", {at("y", -8, -8)});
    b.func("g", {"y"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m =
        fixture.featurize(nests_of_root_func("g", 1024) + nests_of_out(4, 8, 32));
    ASSERT_EQ(m.row(0).unrolled_loop_extent, 1);
    EXPECT_EQ(m.row(0).num_global_mem_loads_per_block, 8 * 32 * 257 + 8 * 32);
}

// g(x, 0) does not depend on y, so the loop over y does not widen its box, from 0 to y = 18.
TEST(TransactionDetails, LoopsWithoutInfluenceStayOutOfTheBox) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({64, 32});
    b.reads("g", {at("x"), at("y")}).reads("g", {at("x"), constant(0, 0)}, 100);
    b.func("g", {"x", "y"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("g 2 32 (0, 0) t gpu_block\n"
                                              " g 32 1 (0, 0) t gpu_thread\n"
                                              "  g 1 1 (0, 0) t gpu_serial\n"
                                              "   g 1v 1 (0, 0) * gpu_simd\n"
                                              "out 2 4 (0, 0) t gpu_block\n"
                                              " out 32 2 (0, 0) t gpu_thread\n"
                                              "  out 1 4 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    // Two warps; four sectors per request.
    EXPECT_EQ(m.row(0).num_global_mem_loads_per_block, 2 * 4 * (19 + 4));
}

// out -> f is x / 3, f -> g is x / 2: an even denominator behind an inlined Func counts as unknown,
// even if a thread's six points move g by exactly one.
TEST(TransactionDetails, FractionsThroughAnInlinedFunc) {
    GraphBuilder b;
    b.func("out", {"x"}).output({192}).reads("f", {divided("x", 3)});
    b.func("f", {"x"}).reads("g", {divided("x", 2)});
    b.func("g", {"x"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize(nests_of_root_func("g", 32) + nests_of_out(1, 32, 6) +
                                              "    inlined: f 1\n");
    EXPECT_EQ(m.row(0).num_global_mem_loads_per_block, 32);
    EXPECT_EQ(m.row(0).global_mem_load_efficiency, 0.125);
}

TEST(TransactionDetails, LanesWithoutAddress) {
    GraphBuilder b;
    b.func("out", {"x"}).output({32}).reads("g", {{"x", 1, 2, 1, 1}});
    b.func("g", {"x"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize(nests_of_root_func("g", 16) + nests_of_out(1, 32, 1));
    EXPECT_EQ(m.row(0).num_global_mem_loads_per_block, 32);
    EXPECT_EQ(m.row(0).global_mem_load_efficiency, 0.125);
}

// 25 times the nearest float of 1/25 is less than 1, so lane 25 reads what lane 0 reads.
TEST(TransactionDetails, StridesAreRoundedToSinglePrecision) {
    GraphBuilder b;
    b.func("out", {"x"}).output({26}).reads("g", {divided("x", 25)});
    b.func("g", {"x"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize(nests_of_root_func("g", 2) + nests_of_out(1, 26, 1));
    EXPECT_EQ(m.row(0).num_global_mem_loads_per_block, 1);
    EXPECT_EQ(m.row(0).global_mem_load_efficiency, 0.125);
}

// A Func that is not placed yet will be stored along the dimension that suits its reader.
TEST(TransactionDetails, BestLayoutOfWhatIsNotPlaced) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024}).reads("g", {at("y", -20, 20), at("x")}, 41);
    b.func("g", {"x", "y"});
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 32 32 (0, 0) t gpu_block\n"
                                              " out 32 8 (0, 0) t gpu_thread\n"
                                              "  out 1 4 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(0).num_shared_mem_loads_per_block, 352);
}

// Eight rows of four threads. In the layout of the whole program every row has a sector of its own,
// in that of a block rows follow each other.
TEST(TransactionDetails, LayoutOfTheProgramOrOfTheBlock) {
    const std::string text = "out 16 8 (0, 0) t gpu_block\n"
                             " g 4 8 (0, 0) t gpu_thread\n"
                             "  g 1 1 (0, 0) t gpu_serial\n"
                             "   g 1v 1 (0, 0) * gpu_simd\n"
                             " out 4 8 (0, 0) t gpu_thread\n"
                             "  out 1 1 (0, 0) t gpu_serial\n"
                             "   out 1v 1 (0, 0) * gpu_simd\n";
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({64, 64}).reads("g", {at("x"), at("y")});
    b.func("g", {"x", "y"});
    const PipelineGraph graph = b.build();
    const FeatureMatrix reference = FeaturizerFixture(graph, 80, true).featurize(text);
    EXPECT_EQ(reference.row(1).num_global_mem_stores_per_block, 8);
    EXPECT_EQ(reference.row(0).num_global_mem_loads_per_block, 8);
    const FeatureMatrix as_trained = FeaturizerFixture(graph, 80, false).featurize(text);
    EXPECT_EQ(as_trained.row(1).num_shared_mem_stores_per_block, 1);
    EXPECT_EQ(as_trained.row(0).num_shared_mem_loads_per_block, 1);
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
