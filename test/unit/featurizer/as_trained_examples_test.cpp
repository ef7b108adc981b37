// Worked examples with the store sets that the weights were trained with: every Func is stored
// where it is computed.
#include <gtest/gtest.h>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

// Columns 19 to 49 and 58 to 67 of one row, which is where storage matters.
std::vector<int> outside_storage_columns() {
    std::vector<int> columns;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        if (i < 19 || i == 35 || (i > 49 && i < 58) || i > 67) {
            columns.push_back(i);
        }
    }
    return columns;
}

TEST(AsTrainedExamples, MatMulInBlock) {
    const FeaturizerFixture fixture(mat_mul_graph());
    const FeatureMatrix m = fixture.featurize("out 16 256 (0, 0) t gpu_block\n"
                                              " prod 64 1 (0, 0) t gpu_thread\n"
                                              "  prod 1 4 (0, 0) t gpu_serial\n"
                                              "   prod 1v 1 (0, 0) * gpu_simd\n"
                                              " prod 1 64 1 (1, 0) t gpu_thread\n"
                                              "  prod 1024 1 4 (1, 0) t gpu_serial\n"
                                              "   prod 1 1v 1 (1, 0) * gpu_simd\n"
                                              " out 64 1 (0, 0) t gpu_thread\n"
                                              "  out 1 4 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    EXPECT_EQ(compare_row(m.row(0),
                          {{20, 1024},
                           {23, 4},
                           {26, 16},
                           {29, 4},
                           {32, 1024},
                           {34, 1024},
                           {36, 1024},
                           {39, 256},
                           {42, 4},
                           {43, 1},
                           {44, 278528},
                           {45, 1028},
                           {46, 1024},
                           {47, 4195328},
                           {48, 4195328},
                           {49, 4195328},
                           {58, 8},
                           {61, 32},
                           {67, 1.0 / 48}},
                          outside_storage_columns()),
              "");
    EXPECT_EQ(
        compare_row(
            m.row(1),
            {{37, 1024}, {40, 256}, {46, 1024}, {47, 1024}, {48, 1024}, {49, 4195328}, {60, 8}},
            outside_storage_columns()),
        "");
    EXPECT_EQ(compare_row(m.row(2),
                          {{19, 278528},  {20, 1024},    {22, 1028},  {23, 4},    {25, 20480},
                           {28, 1028},    {31, 8388608}, {32, 1024},  {37, 1024}, {40, 256},
                           {42, 8},       {43, 2},       {46, 1024},  {47, 1024}, {48, 1024},
                           {49, 4195328}, {58, 8},       {59, 16384}, {60, 8},    {65, 0.5625}},
                          outside_storage_columns()),
              "");
    // What storage has no influence on.
    EXPECT_EQ(m.row(2)[0], 4096);
    EXPECT_EQ(m.row(2)[4], 4096);
    EXPECT_EQ(m.row(2)[5], 1073741824);
    EXPECT_EQ(m.row(0)[69], 1);
    EXPECT_EQ(m.row(1)[71], 64);
}

TEST(AsTrainedExamples, MatMulInThread) {
    const FeaturizerFixture fixture(mat_mul_graph());
    const FeatureMatrix m = fixture.featurize("out 16 256 (0, 0) t gpu_block\n"
                                              " out 64 1 (0, 0) t gpu_thread\n"
                                              "  prod 1 4 (0, 0) gpu_serial\n"
                                              "   prod 1v 1 (0, 0) * gpu_simd\n"
                                              "  prod 1024 1 4 (1, 0) gpu_serial\n"
                                              "   prod 1 1v 1 (1, 0) * gpu_simd\n"
                                              "  out 1 4 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    EXPECT_EQ(compare_row(m.row(0),
                          {{21, 16},
                           {24, 4},
                           {27, 16},
                           {30, 4},
                           {34, 16},
                           {36, 1024},
                           {39, 256},
                           {42, 4},
                           {43, 4},
                           {44, 278528},
                           {45, 1028},
                           {46, 16},
                           {47, 4194320},
                           {48, 4194320},
                           {49, 4194320},
                           {61, 32},
                           {66, 16}},
                          outside_storage_columns()),
              "");
    EXPECT_EQ(compare_row(m.row(1),
                          {{38, 16}, {41, 4}, {46, 16}, {47, 16}, {48, 16}, {49, 4194320}},
                          outside_storage_columns()),
              "");
    EXPECT_EQ(compare_row(m.row(2),
                          {{19, 20480},
                           {21, 16},
                           {22, 1028},
                           {24, 4},
                           {25, 20480},
                           {28, 1028},
                           {31, 8388608},
                           {33, 16},
                           {38, 16},
                           {41, 4},
                           {42, 8},
                           {43, 2},
                           {46, 16},
                           {47, 16},
                           {48, 16},
                           {49, 4194320},
                           {59, 16384},
                           {65, 0.5625}},
                          outside_storage_columns()),
              "");
}

const char *const kHarris = "output 48 80 (0, 0) t gpu_block\n"
                            " gray 36 4 (0, 0) t gpu_thread\n"
                            "  gray 1 9 (0, 0) t gpu_serial\n"
                            "   gray 1v 1 (0, 0) * gpu_simd\n"
                            " Iy 34 4 (0, 0) t gpu_thread\n"
                            "  Iy 1 9 (0, 0) t gpu_serial\n"
                            "   Iy 1v 1 (0, 0) * gpu_simd\n"
                            " Syy 32 4 (0, 0) t gpu_thread\n"
                            "  Syy 1 8 (0, 0) t gpu_serial\n"
                            "   Syy 1v 1 (0, 0) * gpu_simd\n"
                            "    inlined: Iyy 9\n"
                            " output 32 4 (0, 0) t gpu_thread\n"
                            "  output 1 8 (0, 0) t gpu_serial\n"
                            "   Ix 3 3 (0, 0) gpu_serial\n"
                            "    Ix 1v 1 (0, 0) * gpu_simd\n"
                            "   Sxx 1 1 (0, 0) gpu_serial\n"
                            "    Sxx 1v 1 (0, 0) * gpu_simd\n"
                            "     inlined: Ixx 9\n"
                            "   output 1v 1 (0, 0) * gpu_simd\n"
                            "    inlined: trace 1\n"
                            "    inlined: det 1\n"
                            "    inlined: Sxy 1\n"
                            "    inlined: Ixy 9\n";

// Everything at once: root, block and serial nests, inlining in two leaves, three memory classes.
TEST(AsTrainedExamples, HarrisFusedIntoOneBlock) {
    const FeaturizerFixture fixture(harris_graph());
    const FeatureMatrix m = fixture.featurize(kHarris);
    const std::vector<int> columns{0,  1,  4,  9,  12, 13, 19, 20, 21, 22, 23, 24, 25, 28, 26,
                                   29, 27, 30, 31, 32, 34, 36, 39, 37, 40, 38, 41, 42, 43, 44,
                                   45, 46, 47, 48, 49, 58, 59, 60, 61, 62, 63, 65, 66, 67, 68};
    struct Expected {
        const char *func;
        std::vector<double> values;
    };
    const double all = 15644424;
    const double block = 13944;
    const std::vector<Expected> rows{
        {"output",
         {1,      1,   8,   8,   15630480, 15630480, 0,  8720,  40,   0,     66,
          4,      0,   0,   152, 18,       40,       4,  0,     8720, 13944, 3844,
          124,    0,   0,   0,   0,        80,       44, 15552, 108,  block, all,
          all,    all, 270, 0,   0,        144,      1,  0.875, 1,    40,    13904.0 / 49152,
          0.21875}},
        {"Syy", {3840, 3840,  8,     8,     4096, 4096, 0, 4624, 0,    0,     34,    0, 0,  0, 120,
                 10,   0,     0,     0,     4624, 0,    0, 0,    4096, 128,   0,     0, 36, 3, 0,
                 0,    block, block, block, all,  150,  0, 40,   0,    0.875, 0.875, 1, 0,  0, 1}},
        {"Iy", {3840, 3840,  9,     9,     4624, 4624, 0, 5184, 0,    0,      36,     0, 0,  0, 132,
                11,   0,     0,     0,     5184, 0,    0, 0,    4624, 136,    0,      0, 36, 3, 0,
                0,    block, block, block, all,  165,  0, 45,   0,    0.8875, 0.8875, 1, 0,  0, 1}},
        {"Sxx", {3932160, 3932160, 8,  1,  4,   4, 0, 0, 36, 0, 0, 3, 0,  0,  0,
                 0,       36,      3,  0,  0,   0, 0, 0, 0,  0, 4, 4, 36, 36, 0,
                 0,       block,   40, 40, all, 0, 0, 0, 0,  1, 1, 1, 0,  0,  1}},
        {"Ix", {3932160, 3932160, 72, 9,  36,   36,   0, 100, 0, 0, 5,     0,  0,  0, 240,
                12,      0,       0,  0,  5184, 0,    0, 0,   0, 0, 36,    12, 36, 3, 0,
                0,       block,   40, 40, all,  1000, 0, 0,   0, 1, 0.875, 1,  0,  0, 1}},
        {"gray",
         {3840, 3840,  9,     9,        5184, 5184, 15552, 0,  0,    108, 0, 0,        108, 27, 0,
          0,    0,     0,     47087664, 0,    0,    0,     0,  5184, 144, 0, 0,        12,  3,  0,
          0,    block, block, block,    all,  0,    513,   45, 0,    0.9, 1, 0.947368, 0,   0,  1}},
    };
    for (const Expected &e : rows) {
        ASSERT_EQ(e.values.size(), columns.size()) << e.func;
        const ScheduleFeatures &row = m.row(fixture.stage(e.func));
        for (size_t i = 0; i < columns.size(); i++) {
            EXPECT_NEAR(row[columns[i]], e.values[i], 1e-6 * e.values[i])
                << e.func << " " << columns[i] << " " << schedule_feature_name(columns[i]);
        }
        EXPECT_EQ(row[51], 5) << "warps of the union of all threads";
    }
}

TEST(AsTrainedExamples, AcceptsWhatJustFitsIntoRegisters) {
    // One point of h per thread needs 32 points of g: 128 bytes.
    GraphBuilder b;
    b.func("h", {"x"}).output({4096}).reads("g", {at("x", -16, 15)}, 32);
    b.func("g", {"x"}).reads("f", {at("x")});
    b.func("f", {"x"}).input();
    const FeaturizerFixture fixture(b.build());
    const FeatureMatrix m = fixture.featurize("h 128 (0, 0) t gpu_block\n"
                                              " h 32 (0, 0) t gpu_thread\n"
                                              "  g 32 (0, 0) gpu_serial\n"
                                              "   g 1v (0, 0) * gpu_simd\n"
                                              "  h 1 (0, 0) t gpu_serial\n"
                                              "   h 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(m.row(1).register_bytes_at_task, 128);
    EXPECT_EQ(m.row(0).unique_register_bytes_read_per_thread, 128);
}

TEST(AsTrainedExamples, RejectsWhatDoesNotFitIntoRegisters) {
    // One point of h per thread needs 41 points of g: 164 bytes.
    GraphBuilder b;
    b.func("h", {"x"}).output({4096}).reads("g", {at("x", -20, 20)}, 41);
    b.func("g", {"x"}).reads("f", {at("x")});
    b.func("f", {"x"}).input();
    const PipelineGraph graph = b.build();
    const std::string text = "h 128 (0, 0) t gpu_block\n"
                             " h 32 (0, 0) t gpu_thread\n"
                             "  g 41 (0, 0) gpu_serial\n"
                             "   g 1v (0, 0) * gpu_simd\n"
                             "  h 1 (0, 0) t gpu_serial\n"
                             "   h 1v (0, 0) * gpu_simd\n";
    const FeaturizerFixture as_trained(graph);
    const Featurization rejected = as_trained.featurizer().featurize(as_trained.tree(text));
    ASSERT_TRUE(rejected.unpromotable_func.has_value());
    EXPECT_EQ(*rejected.unpromotable_func, 1);
    // The reference stores everything at the root and rejects nothing.
    const FeaturizerFixture reference(graph, 80, true);
    EXPECT_FALSE(reference.featurizer().featurize(reference.tree(text)).unpromotable_func);
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
