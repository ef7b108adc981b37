// Pipelines and trees at the edge of what the model covers: they must not crash and must give
// sensible numbers.
#include <cmath>
#include <gtest/gtest.h>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

TEST(Robustness, ScalarThatReadsAnImage) {
    // s() = A(3, 0) + A(3, 1): no threads, so its only thread reads what the stage reads.
    GraphBuilder b;
    b.func("s", {}).output({}).reads("A", {constant(3, 3), constant(0, 1)}, 2);
    b.func("A", {"_0", "_1"}).input();
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("s (-1, 0) gpu_none\n s (-1, 0) * gpu_simd\n");
    const ScheduleFeatures &s = m.row(0);
    EXPECT_EQ(s.unique_global_bytes_read_per_realization, 8);
    EXPECT_EQ(s.unique_global_bytes_read_per_thread, 8);
    EXPECT_EQ(s.unique_global_lines_read_per_thread, 2);
    EXPECT_EQ(s.unique_bytes_read_per_point, 8);
    // Two requests of one point, a transaction each.
    EXPECT_EQ(s.num_global_mem_loads_per_block, 2);
    EXPECT_EQ(s.global_mem_load_efficiency, 4.0 / 32);
}

TEST(Robustness, UpdateWithoutLoopsAtTheRoot) {
    // f(3) = ... has nothing to be parallel over: one request, one transaction.
    GraphBuilder b;
    b.func("f", {"x"}).output({1024}).update({}, {constant(3, 3)}).reads("A", {constant(7, 7)});
    b.func("A", {"_0"}).input();
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("f 1024 (0, 0) t gpu_none\n"
                                              " f 1v (0, 0) * gpu_simd\n"
                                              "f (-1, 0) gpu_none\n"
                                              " f (-1, 0) * gpu_simd\n");
    const ScheduleFeatures &update = m.row(1);
    EXPECT_EQ(update.num_global_mem_stores_per_block, 1);
    EXPECT_EQ(update.global_mem_store_efficiency, 4.0 / 32);
    EXPECT_EQ(update.num_global_mem_loads_per_block, 2) << "A(7), and f(3) is loaded as well";
    EXPECT_EQ(update.num_blocks, 1);
    EXPECT_EQ(update.num_scalars, 1);
    EXPECT_EQ(m.row(0).num_blocks, 32);
}

TEST(Robustness, UpdateWithoutLoopsInsideABlock) {
    GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("f", {at("x", -1, 1)}, 3);
    b.func("f", {"x"}).update({}, {constant(3, 3)});
    const FeaturizerFixture fixture(b.build());
    const std::string consumer = " out 32 (0, 0) t gpu_thread\n"
                                 "  out 1 (0, 0) t gpu_serial\n"
                                 "   out 1v (0, 0) * gpu_simd\n";
    const LoopNestEditor &editor = fixture.editor();
    const LoopNestPtr root = fixture.tree("out 32 (0, 0) t gpu_block\n" + consumer);
    const LoopNest &block = *root->children[0];
    std::vector<LoopNestPtr> in_block = block.children;
    for (const LoopNestPtr &n : editor.place(1, 0, block, false)) {
        in_block.push_back(n);
    }
    const LoopNestPtr tree =
        editor.with_children(*root, {editor.with_children(block, std::move(in_block))});
    const Featurization result = fixture.featurizer().featurize(tree);
    ASSERT_FALSE(result.unpromotable_func);
    const ScheduleFeatures &update = result.features.row(2);
    // One thread of the block's 32 writes one word.
    EXPECT_EQ(update.num_shared_mem_stores_per_block, 1);
    EXPECT_EQ(update.shared_mem_store_efficiency, 4.0 / 128);
    EXPECT_EQ(update.num_shared_mem_loads_per_block, 1);
    EXPECT_EQ(update.num_realizations, 32);
}

TEST(Robustness, OutputThatAnotherFuncReads) {
    GraphBuilder b;
    b.func("second", {"x"}).output({512}).reads("first", {at("x")});
    b.func("first", {"x"}).output({512}).reads("A", {at("x")});
    b.func("A", {"_0"}).input();
    const FeaturizerFixture fixture(b.build());
    const std::string second = "second 4 (0, 0) t gpu_block\n"
                               " second 128 (0, 0) t gpu_thread\n"
                               "  second 1 (0, 0) t gpu_serial\n"
                               "   second 1v (0, 0) * gpu_simd\n";
    // Before and after the first output is placed, it is read from global memory once.
    for (const std::string &first : {std::string(),
                                     std::string("first 512 (0, 0) t gpu_none\n"
                                                 " first 1v (0, 0) * gpu_simd\n")}) {
        const ScheduleFeatures row = fixture.featurize(first + second).row(0);
        EXPECT_EQ(row.unique_global_bytes_read_per_realization, 2048);
        EXPECT_EQ(row.unique_global_bytes_read_per_thread, 4);
        EXPECT_EQ(row.num_global_mem_loads_per_block, 16);
        EXPECT_EQ(row.unique_bytes_read_per_task, 512);
    }
}

TEST(Robustness, PointsWiderThanAVectorInSharedMemory) {
    // 32 bytes per point: no access can be wider than a point.
    GraphBuilder b;
    b.func("out", {"x"}).output({4096}).bytes_per_point(32);
    b.reads("g", {at("x", -8, 8)}, 17);
    b.func("g", {"x"}).bytes_per_point(32).reads("A", {at("x")});
    b.func("A", {"_0"}).input();
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 16 (0, 0) t gpu_block\n"
                                              " g 68 (0, 0) t gpu_thread\n"
                                              "  g 4 (0, 0) t gpu_serial\n"
                                              "   g 1v (0, 0) * gpu_simd\n"
                                              " out 64 (0, 0) t gpu_thread\n"
                                              "  out 4 (0, 0) t gpu_serial\n"
                                              "   out 1v (0, 0) * gpu_simd\n");
    // 20 points per thread by two warps. Lanes are 128 bytes apart and 8 words wide, so each of
    // the 8 banks that take part has 32 words to deliver.
    EXPECT_EQ(m.row(0).num_shared_mem_loads_per_block, 20 * 2 * 32);
    EXPECT_EQ(m.row(0).shared_mem_load_efficiency, 1024.0 / (32 * 128));
}

TEST(Robustness, EfficiencyIsAFraction) {
    // Three lanes with 12 bytes each touch one sector of 32 bytes.
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({3, 64}).bytes_per_point(12);
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 1 64 (0, 0) t gpu_block\n"
                                              " out 3 1 (0, 0) t gpu_thread\n"
                                              "  out 1 1 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(0).global_mem_store_efficiency, 1);
    EXPECT_GT(m.row(0).num_global_mem_stores_per_block, 0);
}

TEST(Robustness, ProducerInRegistersOfASingleThread) {
    // One block with one thread: the producer is realized no more often than its reader.
    GraphBuilder b;
    b.func("out", {"x"}).output({4}).reads("g", {at("x")});
    b.func("g", {"x"}).reads("A", {at("x")});
    b.func("A", {"_0"}).input();
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 1 (0, 0) t gpu_block\n"
                                              " out 1 (0, 0) t gpu_thread\n"
                                              "  g 4 (0, 0) gpu_serial\n"
                                              "   g 1v (0, 0) * gpu_simd\n"
                                              "  out 4 (0, 0) t gpu_serial\n"
                                              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(0).unique_register_bytes_read_per_realization, 16);
    EXPECT_EQ(m.row(0).unique_register_bytes_read_per_thread, 16);
    EXPECT_EQ(m.row(1).num_realizations, 1);
}

TEST(Robustness, SharedMemoryOccupancyIsAFraction) {
    // More than a block may have: such trees are dropped later, but have features.
    GraphBuilder b;
    b.func("out", {"x"}).output({1 << 20}).reads("g", {at("x")});
    b.func("g", {"x"}).reads("A", {at("x")});
    b.func("A", {"_0"}).input();
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("out 16 (0, 0) t gpu_block\n"
                                              " g 1024 (0, 0) t gpu_thread\n"
                                              "  g 64 (0, 0) t gpu_serial\n"
                                              "   g 1v (0, 0) * gpu_simd\n"
                                              " out 1024 (0, 0) t gpu_thread\n"
                                              "  out 64 (0, 0) t gpu_serial\n"
                                              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(0).shared_mem_occupancy, 1);
    EXPECT_EQ(m.row(0).shared_mem_block_limit_factor, 0);
}

TEST(Robustness, ReductionIntoAHistogramRunsInOneThread) {
    const FeaturizerFixture fixture(histogram_graph());
    const FeatureMatrix m = fixture.featurize("hist 256 (0, 0) t gpu_none\n"
                                              " hist 1v (0, 0) * gpu_simd\n"
                                              "hist 256 256 (-1, 0) gpu_none\n"
                                              " hist 1 1 (-1, 0) * gpu_simd\n"
                                              "out 8 (0, 0) t gpu_block\n"
                                              " out 32 (0, 0) t gpu_thread\n"
                                              "  out 1 (0, 0) t gpu_serial\n"
                                              "   out 1v (0, 0) * gpu_simd\n");
    const ScheduleFeatures &update = m.row(fixture.stage("hist", 1));
    EXPECT_EQ(update.num_threads_per_block, 1);
    EXPECT_EQ(update.num_scalars, 65536) << "no loop of the update runs along hist's dimension";
    EXPECT_TRUE(std::isfinite(update.global_mem_load_efficiency));
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
