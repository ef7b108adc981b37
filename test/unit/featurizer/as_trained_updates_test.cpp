// Schedules of small pipelines with the store sets that the weights were trained with: update
// stages, whose Funcs are read, written and reduced into in every kind of memory.
#include <gtest/gtest.h>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

// Expression branching depends on expressions, which hand-made graphs do not have.
void expect_row(const FeaturizerFixture &fixture,
                const FeatureMatrix &m,
                const std::string &func,
                int stage,
                const std::string &values) {
    EXPECT_EQ(compare_row(m.row(fixture.stage(func, stage)), parse_values(values), {72}), "")
        << func << " " << stage;
}

PipelineGraph matrix_product_graph() {
    GraphBuilder b;
    b.func("o", {"x", "y"}).output({768, 768}, false).reads("p", {at("x"), at("y")});
    b.func("p", {"x", "y"});
    b.update({{"r", 0, 767}}, {at("x"), at("y")});
    b.reads("a", {at("x"), at("r")}).reads("b", {at("r"), at("y")});
    b.func("b", {"_0", "_1"}).input();
    b.func("a", {"_0", "_1"}).input();
    return b.build();
}

PipelineGraph convolution_graph() {
    const std::vector<std::string> xycn{"x", "y", "c", "n"};
    const std::vector<Coord> here{at("x"), at("y"), at("c"), at("n")};
    GraphBuilder b;
    b.func("relu", xycn).output({32, 32, 32, 4}, false).reads("k", here);
    b.func("k", xycn).update({{"rx", 0, 2}, {"ry", 0, 2}, {"rz", 0, 15}}, here);
    b.reads("in", {sum("x", "rx"), sum("y", "ry"), at("rz"), at("n")});
    b.reads("w", {at("rx"), at("ry"), at("rz"), at("c")});
    b.func("w", {"_0", "_1", "_2", "_3"}).input();
    b.func("in", {"_0", "_1", "_2", "_3"}).input();
    return b.build();
}

// o(x, y) = t(x, y); t(x, y) = s(y, x); s is scanned along y.
PipelineGraph column_scan_graph() {
    GraphBuilder b;
    b.func("o", {"x", "y"}).output({1024, 1024}, false).reads("t", {at("x"), at("y")});
    b.func("t", {"x", "y"}).reads("s", {at("y"), at("x")});
    b.func("s", {"x", "y"}).reads("in", {at("x"), at("y")});
    b.update({{"r", 1, 1023}}, {at("x"), at("r")});
    b.func("in", {"_0", "_1"}).input();
    return b.build();
}

// Sums windows of 9 x 9 points of g, the square of an image of two bytes per point.
PipelineGraph local_sum_graph() {
    GraphBuilder b;
    b.func("o", {"x", "y"}).output({1024, 1024}, false).reads("s", {at("x"), at("y")});
    b.func("s", {"x", "y"}).update({{"rx", 0, 8}, {"ry", 0, 8}}, {at("x"), at("y")});
    b.reads("g", {sum("x", "rx"), sum("y", "ry")});
    b.func("g", {"x", "y"}).reads("in", {at("x"), at("y")}, 2);
    b.func("in", {"_0", "_1"}).bytes_per_point(2).input();
    return b.build();
}

TEST(AsTrainedPipelines, UpdateInSharedMemory) {
    const FeaturizerFixture fixture(matrix_product_graph());
    const FeatureMatrix m = fixture.featurize("o 24 96 (0, 0) t gpu_block\n"
                                              " p 16 4 (0, 0) t gpu_thread\n"
                                              "  p 2 2 (0, 0) t gpu_serial\n"
                                              "   p 1vc 1 (0, 0) * gpu_simd\n"
                                              " p 1 16 4 (1, 0) t gpu_thread\n"
                                              "  p 768 2 2 (1, 0) t gpu_serial\n"
                                              "   p 1 1vc 1 (1, 0) * gpu_simd\n"
                                              " o 16 4 (0, 0) t gpu_thread\n"
                                              "  o 2 2 (0, 0) t gpu_serial\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=589824 3=589824 4=4 5=589824 6=589824 7-9=4 10=2304 11=1 "
               "12-14=2359296 15-17=3072 20=1024 23=8 26=16 29=2 32=1024 34=1024 36=1024 "
               "39=128 42=4 43=1 44=122880 45=776 46=1024 47-49=2360320 50=2304 51=2 "
               "52=0.0625 53=1 54=2 58=8 61=64 63=0.5 64=0.5 67=0.020833334 69=0.90625 "
               "70=0.90625 71=64");
    expect_row(fixture,
               m,
               "p",
               1,
               "0=2304 1=2304 2=196608 3=196608 4=3072 5=452984832 6=452984832 7=3072 8=4 "
               "9=1 10=1 11=2304 12=1024 13=1024 14=2359296 15=128 16=128 17=3072 19=122880 "
               "20=1024 22=776 23=8 25=12288 28=770 31=4718592 32=1024 37=1024 40=128 42=8 "
               "43=2 46-48=1024 49=2360320 50=2304 51=2 52=0.0625 53=1 54=2 58=8 59=18432 "
               "60=8 62=0.5 63=0.5 65=0.375 71=64");
    expect_row(fixture,
               m,
               "p",
               0,
               "0=2304 1=2304 2=256 3=256 4=4 5=589824 6=589824 7-9=4 10=1 11=2304 12=1024 "
               "13=1024 14=2359296 15=128 16=128 17=3072 37=1024 40=128 46-48=1024 "
               "49=2360320 50=2304 51=2 52=0.0625 53=1 54=2 60=8 62=0.5 71=64");
}

TEST(AsTrainedPipelines, UpdateInRegisters) {
    const FeaturizerFixture fixture(matrix_product_graph());
    const FeatureMatrix m = fixture.featurize("o 24 12 (0, 0) t gpu_block\n"
                                              " o 32 16 (0, 0) t gpu_thread\n"
                                              "  p 1 4 (0, 0) t gpu_serial\n"
                                              "   p 1vc 1 (0, 0) * gpu_simd\n"
                                              "  p 768 1 4 (1, 0) t gpu_serial\n"
                                              "   p 1 1vc 1 (1, 0) * gpu_simd\n"
                                              "  o 1 4 (0, 0) t gpu_serial\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=589824 3=589824 4=4 5=589824 6=589824 7-9=4 10=288 11=1 "
               "12-14=2359296 15-17=3072 21=16 24=4 27=16 30=4 34=16 36=8192 39=128 42=4 "
               "43=4 44=294912 45=832 46=16 47-49=2359312 50=288 51=16 52=0.5 53=1 54=16 "
               "61=256 66=16 69=1 70=0.125 71=512");
    expect_row(fixture,
               m,
               "p",
               1,
               "0=147456 1=147456 2-4=3072 5=452984832 6=452984832 7=3072 8=4 9=1 10=1 "
               "11=288 12=16 13=16 14=2359296 15=4 16=4 17=3072 19=15360 21=16 22=772 24=4 "
               "25=15360 28=772 31=4718592 33=16 38=16 41=4 42=8 43=2 46-48=16 49=2359312 "
               "50=288 51=16 52=0.5 53=1 54=16 59=98304 65=0.5625 71=512");
    expect_row(fixture,
               m,
               "p",
               0,
               "0=147456 1=147456 2-4=4 5=589824 6=589824 7-9=4 10=1 11=288 12=16 13=16 "
               "14=2359296 15=4 16=4 17=3072 38=16 41=4 46-48=16 49=2359312 50=288 51=16 "
               "52=0.5 53=1 54=16 71=512");
}

TEST(AsTrainedPipelines, FourDimensionsAndThreeReductions) {
    const FeaturizerFixture fixture(convolution_graph());
    const FeatureMatrix m = fixture.featurize("relu 2 32 4 2 (0, 0) t gpu_block\n"
                                              " k 16 1 1 2 (0, 0) t gpu_thread\n"
                                              "  k 1 1 8 1 (0, 0) t gpu_serial\n"
                                              "   k 1vc 1 1 1 (0, 0) * gpu_simd\n"
                                              " k 1 1 1 16 1 1 2 (3, 0) t gpu_thread\n"
                                              "  k 3 3 16 1 1 8 1 (3, 0) t gpu_serial\n"
                                              "   k 1 1 1 1vc 1 1 1 (3, 0) * gpu_simd\n"
                                              " relu 16 1 2 1 (0, 0) t gpu_thread\n"
                                              "  relu 1 1 4 2 (0, 0) t gpu_serial\n"
                                              "   relu 1vc 1 1 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "relu",
               0,
               "0=1 1=1 2=131072 3=131072 4=8 5=131072 6=131072 7-9=8 10=512 11=1 "
               "12-14=524288 15-17=128 20=1024 23=16 26=32 29=8 32=1024 34=1024 36=1024 "
               "39=64 42=4 43=1 44=11520 45=480 46=1024 47-49=525312 50=512 51=1 52=0.03125 "
               "53=1 54=1 58=16 61=32 63=0.5 67=0.020833334 69=0.109375 70=0.21875 71=32");
    expect_row(fixture,
               m,
               "k",
               1,
               "0=512 1=512 2=36864 3=36864 4=1152 5=18874368 6=18874368 7=1152 8=8 9=1 "
               "10=1 11=512 12=1024 13=1024 14=524288 15=64 16=64 17=128 19=11520 20=1024 "
               "22=480 23=16 25=5184 28=432 31=314368 32=1024 37=1024 40=64 42=8 43=2 "
               "46-48=1024 49=525312 50=512 51=1 52=0.03125 53=1 54=1 58=16 59=1728 60=16 "
               "62=0.5 63=0.5 65=0.41666666 71=32");
    expect_row(fixture,
               m,
               "k",
               0,
               "0=512 1=512 2=256 3=256 4=8 5=131072 6=131072 7-9=8 10=1 11=512 12=1024 "
               "13=1024 14=524288 15=64 16=64 17=128 37=1024 40=64 46-48=1024 49=525312 "
               "50=512 51=1 52=0.03125 53=1 54=1 60=16 62=0.5 71=32");
}

TEST(AsTrainedPipelines, ScanAtTheRootAndATransposition) {
    const FeaturizerFixture fixture(column_scan_graph());
    const FeatureMatrix m = fixture.featurize("s 64 1024 (0, 0) t gpu_block\n"
                                              " s 16 1 (0, 0) t gpu_thread\n"
                                              "  s 1 1 (0, 0) t gpu_serial\n"
                                              "   s 1vc 1 (0, 0) * gpu_simd\n"
                                              "s 1 64 (1, 0) t gpu_block\n"
                                              " s 1 16 (1, 0) t gpu_thread\n"
                                              "  s 1023 1 (1, 0) t gpu_serial\n"
                                              "   s 1 1vc (1, 0) * gpu_simd\n"
                                              "o 32 256 (0, 0) t gpu_block\n"
                                              " t 16 4 (0, 0) t gpu_thread\n"
                                              "  t 2 1 (0, 0) t gpu_serial\n"
                                              "   t 1vc 1 (0, 0) * gpu_simd\n"
                                              " o 16 2 (0, 0) t gpu_thread\n"
                                              "  o 2 2 (0, 0) t gpu_serial\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=4 5=1048576 6=1048576 7-9=4 10=8192 11=1 "
               "12-14=4194304 15-17=4096 20=512 23=4 26=16 29=2 32=512 34=512 36=512 39=128 "
               "42=4 43=1 44=512 45=32 46=512 47-49=8389120 50=8192 51=2 52=0.03125 53=1 "
               "54=1 58=4 61=32 63=0.5 64=0.5 67=0.010416667 69=1 70=1 71=32");
    expect_row(fixture,
               m,
               "t",
               0,
               "0=8192 1=8192 2=128 3=128 4=2 5=1048576 6=1048576 7-9=2 10=1 11=8192 12=512 "
               "13=512 14=4194304 15=128 16=128 17=4096 19=512 22=32 25=8 28=2 31=4194304 "
               "37=512 40=128 42=4 43=1 46-48=512 49=8389120 50=8192 51=2 52=0.0625 53=1 "
               "54=2 59=64 60=4 62=0.5 65=0.25 71=64");
    expect_row(fixture,
               m,
               "s",
               1,
               "0=1 1=1 2=1047552 3=1047552 4=1023 5=1047552 6=1047552 7=1023 8=1 9=1 10=64 "
               "11=1 12-14=4194304 15-17=4096 19=4194304 22=1024 31=4194304 36=65536 39=64 "
               "47-49=8389120 50=64 51=1 52=0.015625 53=0.5 54=1 57=0.015625 59=2046 "
               "61=2046 69=0.015625 70=0.03125 71=16");
    expect_row(fixture,
               m,
               "s",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=1 5=1048576 6=1048576 7-9=1 10=65536 11=1 "
               "12-14=4194304 15-17=4096 19=4194304 22=1024 25=4 28=1 31=4194304 36=64 "
               "39=64 42=4 43=1 44=64 45=1 47-49=8389120 50=65536 51=1 52=0.015625 53=0.5 "
               "54=1 57=0.015625 59=2 61=2 69=0.5 70=1 71=16");
}

TEST(AsTrainedPipelines, WindowSumOncePerPoint) {
    const FeaturizerFixture fixture(local_sum_graph());
    const FeatureMatrix m = fixture.featurize("o 64 32 (0, 0) t gpu_block\n"
                                              " o 16 4 (0, 0) t gpu_thread\n"
                                              "  o 1 8 (0, 0) t gpu_serial\n"
                                              "   s 1 1 (0, 0) t gpu_serial\n"
                                              "    s 1vc 1 (0, 0) * gpu_simd\n"
                                              "   s 9 9 1 1 (2, 0) t gpu_serial\n"
                                              "    s 1 1 1vc 1 (2, 0) * gpu_simd\n"
                                              "     inlined: g 1\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=8 5=1048576 6=1048576 7-9=8 10=2048 11=1 "
               "12-14=4194304 15-17=4096 21=4 24=1 27=4 30=1 34=4 36=2048 39=64 42=4 43=4 "
               "44=1920 45=40 46=4 47-49=4194308 50=2048 51=2 52=0.0625 53=1 54=2 61=64 "
               "66=4 69=0.8125 70=0.8125 71=64");
    expect_row(fixture,
               m,
               "s",
               1,
               "0=1048576 1=1048576 2=81 3=81 4=648 5=84934656 6=84934656 7=81 8-10=1 "
               "11=2048 12=4 13=4 14=4194304 15=4 16=4 17=4096 19=162 21=4 22=9 24=1 25=288 "
               "28=16 31=2130048 33=4 38=4 41=4 42=2 43=1 46-48=4 49=4194308 50=2048 51=2 "
               "52=0.0625 53=1 54=2 59=2592 71=64");
    expect_row(fixture,
               m,
               "s",
               0,
               "0=1048576 1=1048576 2=1 3=1 4=8 5=1048576 6=1048576 7-10=1 11=2048 12=4 "
               "13=4 14=4194304 15=4 16=4 17=4096 38=4 41=4 46-48=4 49=4194308 50=2048 51=2 "
               "52=0.0625 53=1 54=2 71=64");
    expect_row(fixture,
               m,
               "g",
               0,
               "4=648 6=1065024 8=1 10=1 11=2048 14=4260096 17=4128 18=84934656 49=4194308 "
               "50=2048 51=2654208 71=64");
}

TEST(AsTrainedPipelines, WindowSumInSharedMemory) {
    const FeaturizerFixture fixture(local_sum_graph());
    const FeatureMatrix m = fixture.featurize("o 32 32 (0, 0) t gpu_block\n"
                                              " g 32 8 (0, 0) t gpu_thread\n"
                                              "  g 2 5 (0, 0) t gpu_serial\n"
                                              "   g 1vc 1 (0, 0) * gpu_simd\n"
                                              " s 16 8 (0, 0) t gpu_thread\n"
                                              "  s 2 4 (0, 0) t gpu_serial\n"
                                              "   s 1vc 1 (0, 0) * gpu_simd\n"
                                              " s 1 1 16 8 (2, 0) t gpu_thread\n"
                                              "  s 9 9 2 4 (2, 0) t gpu_serial\n"
                                              "   s 1 1 1vc 1 (2, 0) * gpu_simd\n"
                                              " o 32 8 (0, 0) t gpu_thread\n"
                                              "  o 1 4 (0, 0) t gpu_serial\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=4 5=1048576 6=1048576 7-9=4 10=1024 11=1 "
               "12-14=4194304 15-17=4096 20=4096 23=32 26=16 29=4 32=4096 34=10496 36=4096 "
               "39=128 42=4 43=1 44=3200 45=40 46=10496 47-49=4204800 50=1024 51=8 52=0.25 "
               "53=1 54=8 58=32 61=128 67=0.21354167 68=0.28125 69=1 70=0.25 71=256");
    expect_row(fixture,
               m,
               "s",
               1,
               "0=1024 1=1024 2=82944 3=82944 4=648 5=84934656 6=84934656 7=648 8=8 9=1 "
               "10=1 11=1024 12=4096 13=4096 14=4194304 15=128 16=128 17=4096 20=10496 "
               "23=72 26=480 29=12 32=10496 37=4096 40=128 42=4 43=1 46-48=10496 49=4204800 "
               "50=1024 51=8 52=0.125 53=0.5 54=8 57=0.125 58=2624 60=32 62=0.5 63=0.5 "
               "71=128");
    expect_row(fixture,
               m,
               "s",
               0,
               "0-3=1024 4=8 5=1048576 6=1048576 7-9=8 10=1 11=1024 12=4096 13=4096 "
               "14=4194304 15=128 16=128 17=4096 37=4096 40=128 46-48=10496 49=4204800 "
               "50=1024 51=8 52=0.125 53=0.5 54=8 57=0.125 60=32 62=0.5 71=128");
    expect_row(fixture,
               m,
               "g",
               0,
               "0=1024 1=1024 2=1600 3=2560 4=10 5=1638400 6=1065024 7-9=10 10=1 11=1024 "
               "12=6400 13=6400 14=4260096 15=160 16=160 17=4128 19=3200 22=40 25=20 28=5 "
               "31=2130048 37=6400 40=160 42=2 43=1 46-48=10496 49=4204800 50=1024 51=8 "
               "52=0.25 53=1 54=8 59=320 60=80 62=0.5 65=0.5 71=256");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
