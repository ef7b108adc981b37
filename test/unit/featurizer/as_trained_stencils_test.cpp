// Schedules of small pipelines with the store sets that the weights were trained with: stencils
// in shared memory, in registers and at several levels.
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

// by(x, y) = sum of bx(x, y..y+2); bx(x, y) = sum of in(x..x+2, y).
PipelineGraph blur_graph() {
    GraphBuilder b;
    b.func("by", {"x", "y"}).output({1536, 2560}, false);
    b.reads("bx", {at("x"), at("y", 0, 2)}, 3);
    b.func("bx", {"x", "y"}).reads("in", {at("x", 0, 2), at("y")}, 3);
    b.func("in", {"_0", "_1"}).input();
    return b.build();
}

// Two gradients of a grey image, their magnitude, and a window of it.
PipelineGraph sobel_graph() {
    const std::vector<std::string> xy{"x", "y"};
    GraphBuilder b;
    b.func("o", xy).output({1020, 1020}, false);
    b.reads("m", {at("x", 0, 1), at("y", 0, 1)}, 4);
    b.func("m", xy).reads("gx", {at("x"), at("y")}, 2).reads("gy", {at("x"), at("y")}, 2);
    b.func("gy", xy).reads("gray", {at("x", 0, 2), at("y", 0, 2)}, 6);
    b.func("gx", xy).reads("gray", {at("x", 0, 2), at("y", 0, 2)}, 6);
    b.func("gray", xy);
    for (int64_t c = 0; c < 3; c++) {
        b.reads("in", {at("x"), at("y"), constant(c, c)});
    }
    b.func("in", {"_0", "_1", "_2"}).input();
    return b.build();
}

// Halves the size along x, then along y.
PipelineGraph downsample_graph() {
    GraphBuilder b;
    b.func("e", {"x", "y"}).output({1024, 1024}, false);
    b.reads("d", {at("x"), {"y", 2, 1, 0, 2}}, 3);
    b.func("d", {"x", "y"}).reads("in", {{"x", 2, 1, 0, 2}, at("y")}, 3);
    b.func("in", {"_0", "_1"}).input();
    return b.build();
}

PipelineGraph two_outputs_graph() {
    GraphBuilder b;
    b.func("b", {"x", "y"}).output({1024, 1024}, false);
    b.reads("g", {at("x"), at("y", 0, 1)}, 2);
    b.func("a", {"x", "y"}).output({1024, 1024}, false);
    b.reads("g", {at("x", 0, 1), at("y")}, 2);
    b.func("g", {"x", "y"}).reads("in", {at("x"), at("y")});
    b.func("in", {"_0", "_1"}).input();
    return b.build();
}

TEST(AsTrainedPipelines, ProducerInTheThreadsOfABlur) {
    const FeaturizerFixture fixture(blur_graph());
    const FeatureMatrix m = fixture.featurize("by 96 20 (0, 0) t gpu_block\n"
                                              " by 16 16 (0, 0) t gpu_thread\n"
                                              "  bx 1 10 (0, 0) t gpu_serial\n"
                                              "   bx 1vc 1 (0, 0) * gpu_simd\n"
                                              "  by 1 8 (0, 0) t gpu_serial\n"
                                              "   by 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "by",
               0,
               "0=1 1=1 2=3932160 3=3932160 4=8 5=3932160 6=3932160 7-9=8 10=1920 11=1 "
               "12-14=15728640 15-17=6144 21=40 24=10 27=40 30=10 34=40 36=8192 39=64 42=12 "
               "43=12 44=9360 45=130 46=40 47-49=15728680 50=1920 51=8 52=0.25 53=1 54=8 "
               "61=256 66=40 69=1 70=0.25 71=256");
    expect_row(fixture,
               m,
               "bx",
               0,
               "0=491520 1=491520 2-4=10 5=4915200 6=3935232 7-9=10 10=1 11=1920 12=40 "
               "13=40 14=15740928 15=4 16=4 17=6144 19=120 22=10 25=120 28=10 31=15761424 "
               "38=40 41=4 42=12 43=1 46-48=40 49=15728680 50=1920 51=8 52=0.25 53=1 54=8 "
               "59=1200 65=0.80000001 71=256");
}

TEST(AsTrainedPipelines, StridedLanesInSharedMemory) {
    const FeaturizerFixture fixture(blur_graph());
    const FeatureMatrix m = fixture.featurize("by 48 160 (0, 0) t gpu_block\n"
                                              " bx 16 4 (0, 0) t gpu_thread\n"
                                              "  bx 2 5 (0, 0) t gpu_serial\n"
                                              "   bx 1vc 1 (0, 0) * gpu_simd\n"
                                              " by 16 4 (0, 0) t gpu_thread\n"
                                              "  by 2 4 (0, 0) t gpu_serial\n"
                                              "   by 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "by",
               0,
               "0=1 1=1 2=3932160 3=3932160 4=8 5=3932160 6=3932160 7-9=8 10=7680 11=1 "
               "12-14=15728640 15-17=6144 20=2304 23=18 26=48 29=6 32=2304 34=2304 36=2048 "
               "39=128 42=12 43=3 44=2448 45=18 46=2304 47-49=15730944 50=7680 51=2 "
               "52=0.0625 53=1 54=2 58=48 61=128 63=0.5 64=0.5 67=0.046875 69=1 70=1 71=64");
    expect_row(fixture,
               m,
               "bx",
               0,
               "0=7680 1=7680 2=576 3=640 4=10 5=4423680 6=3935232 7-9=10 10=1 11=7680 "
               "12=2304 13=2304 14=15740928 15=128 16=128 17=6144 19=2448 22=18 25=80 28=5 "
               "31=15761424 37=2304 40=128 42=12 43=1 46-48=2304 49=15730944 50=7680 51=2 "
               "52=0.0625 53=1 54=2 59=360 60=20 62=0.5 65=0.44444445 71=64");
}

TEST(AsTrainedPipelines, FourFuncsInOneBlockAndOneInTheThreadsOfAProducer) {
    const FeaturizerFixture fixture(sobel_graph());
    const FeatureMatrix m = fixture.featurize("o 32 255 (0, 0) t gpu_block\n"
                                              " gray 35 2 (0, 0) t gpu_thread\n"
                                              "  gray 1 4 (0, 0) t gpu_serial\n"
                                              "   gray 1vc 1 (0, 0) * gpu_simd\n"
                                              " gx 16 5 (0, 0) t gpu_thread\n"
                                              "  gx 3 1 (0, 0) t gpu_serial\n"
                                              "   gx 1vc 1 (0, 0) * gpu_simd\n"
                                              " m 33 5 (0, 0) t gpu_thread\n"
                                              "  gy 1 1 (0, 0) t gpu_serial\n"
                                              "   gy 1vc 1 (0, 0) * gpu_simd\n"
                                              "  m 1 1 (0, 0) t gpu_serial\n"
                                              "   m 1vc 1 (0, 0) * gpu_simd\n"
                                              " o 16 2 (0, 0) t gpu_thread\n"
                                              "  o 2 2 (0, 0) t gpu_serial\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=1040400 3=1044480 4=4 5=1040400 6=1040400 7-9=4 10=8160 11=1 "
               "12-14=4161600 15-17=4080 20=660 23=5 26=36 29=3 32=660 34=2304 36=496 "
               "39=124 42=16 43=2 44=2940 45=21 46=2304 47-49=4163904 50=8160 51=6 "
               "52=0.03125 53=0.5 54=2 57=0.03125 58=18 61=32 63=0.5 64=0.5 67=0.046793621 "
               "69=1 70=0.3125 71=32");
    expect_row(fixture,
               m,
               "m",
               0,
               "0=8160 1=8160 2=165 3=165 4=1 5=1346400 6=1042441 7-10=1 11=8160 12=660 "
               "13=660 14=4169764 15=132 16=132 17=4084 20=660 21=4 23=5 24=1 26=4 27=4 "
               "29=1 30=1 32=660 34=4 37=660 40=132 42=8 43=5 46-48=2304 49=4163904 50=8160 "
               "51=6 52=0.16113281 53=0.859375 54=6 57=0.026367188 58=6 60=6 62=0.90104169 "
               "63=0.90104169 66=4 71=165");
    expect_row(fixture,
               m,
               "gy",
               0,
               "0=1346400 1=1346400 2-4=1 5=1346400 6=1042441 7-10=1 11=8160 12=4 13=4 "
               "14=4169764 15=4 16=4 17=4084 20=36 23=3 26=36 29=3 32=980 38=4 41=4 42=36 "
               "43=3 46=2304 47=4 48=4 49=4163904 50=8160 51=6 52=0.16113281 53=0.859375 "
               "54=6 57=0.026367188 58=36 63=0.90104169 71=165");
    expect_row(fixture,
               m,
               "gx",
               0,
               "0=8160 1=8160 2=165 3=240 4=3 5=1346400 6=1042441 7-9=3 10=1 11=8160 12=660 "
               "13=660 14=4169764 15=132 16=132 17=4084 20=980 23=7 26=60 29=3 32=980 "
               "37=660 40=132 42=36 43=3 46-48=2304 49=4163904 50=8160 51=6 52=0.078125 "
               "53=0.5 54=5 57=0.078125 58=75 60=15 62=0.5 63=0.5 71=80");
    expect_row(fixture,
               m,
               "gray",
               0,
               "0=8160 1=8160 2=245 3=280 4=4 5=1999200 6=1046529 7-9=4 10=1 11=8160 12=980 "
               "13=980 14=4186116 15=140 16=140 17=4092 19=2940 22=21 25=48 28=12 "
               "31=12558348 37=980 40=140 42=12 43=3 46-48=2304 49=4163904 50=8160 51=6 "
               "52=0.068359375 53=0.72916669 54=3 57=0.025390625 59=144 60=12 71=70");
}

TEST(AsTrainedPipelines, RegistersReadThroughAnInlinedFunc) {
    const FeaturizerFixture fixture(sobel_graph());
    const FeatureMatrix m = fixture.featurize("gray 16 64 (0, 0) t gpu_block\n"
                                              " gray 64 4 (0, 0) t gpu_thread\n"
                                              "  gray 1 4 (0, 0) t gpu_serial\n"
                                              "   gray 1vc 1 (0, 0) * gpu_simd\n"
                                              "gx 32 128 (0, 0) t gpu_block\n"
                                              " gx 32 4 (0, 0) t gpu_thread\n"
                                              "  gx 1 2 (0, 0) t gpu_serial\n"
                                              "   gx 1vc 1 (0, 0) * gpu_simd\n"
                                              "o 16 32 (0, 0) t gpu_block\n"
                                              " o 32 4 (0, 0) t gpu_thread\n"
                                              "  o 2 8 (0, 0) t gpu_serial\n"
                                              "   gy 2 2 (0, 0) t gpu_serial\n"
                                              "    gy 1vc 1 (0, 0) * gpu_simd\n"
                                              "   o 1vc 1 (0, 0) * gpu_simd\n"
                                              "    inlined: m 4\n");
    expect_row(fixture,
               m,
               "o",
               0,
               "0=1 1=1 2=1040400 3=1048576 4=16 5=1040400 6=1040400 7-9=16 10=512 11=1 "
               "12-14=4161600 15-17=4080 19=4169764 21=16 22=1021 24=2 25=108 27=16 28=9 "
               "30=2 31=4169764 34=16 36=7812 39=252 42=32 43=18 44=17960 45=68 46=16 "
               "47-49=12517496 50=512 51=4 52=0.125 53=1 54=4 59=864 61=512 64=0.5 65=0.5 "
               "66=16 69=0.4375 70=0.21875 71=128");
    expect_row(fixture,
               m,
               "m",
               0,
               "4=64 6=1042441 8=16 10=1 11=512 14=4169764 17=4084 18=4194304 49=12517496 "
               "50=512 51=131072 71=128");
    expect_row(fixture,
               m,
               "gy",
               0,
               "0=1048576 1=1048576 2=4 3=4 4=64 5=4194304 6=1042441 7-9=4 10=1 11=512 "
               "12=16 13=16 14=4169764 15=8 16=8 17=4084 19=64 22=4 25=220 28=11 31=4186116 "
               "38=16 41=8 42=36 43=3 46-48=16 49=12517496 50=512 51=4 52=0.125 53=1 54=4 "
               "59=12288 65=0.33333334 71=128");
    expect_row(fixture,
               m,
               "gx",
               0,
               "0=1 1=1 2=1042441 3=1048576 4=2 5=1042441 6=1042441 7-9=2 10=4096 11=1 "
               "12-14=4169764 15-17=4084 19=4186116 22=1023 25=48 28=4 31=4186116 36=868 "
               "39=124 42=36 43=3 44=1360 45=10 47-49=12517496 50=4096 51=4 52=0.125 53=1 "
               "54=4 59=192 61=32 69=1 70=0.5 71=128");
    expect_row(fixture,
               m,
               "gray",
               0,
               "0=1 1=1 2=1046529 3=1048576 4=4 5=1046529 6=1046529 7-9=4 10=1024 11=1 "
               "12-14=4186116 15-17=4092 19=12558348 22=3069 25=48 28=12 31=12558348 "
               "36=3780 39=252 42=12 43=3 44=12288 45=48 47-49=12517496 50=1024 51=8 "
               "52=0.25 53=1 54=8 59=384 61=128 69=1 70=0.25 71=256");
}

TEST(AsTrainedPipelines, LanesTwoElementsApart) {
    const FeaturizerFixture fixture(downsample_graph());
    const FeatureMatrix m = fixture.featurize("e 64 128 (0, 0) t gpu_block\n"
                                              " d 16 17 (0, 0) t gpu_thread\n"
                                              "  d 1 1 (0, 0) t gpu_serial\n"
                                              "   d 1vc 1 (0, 0) * gpu_simd\n"
                                              " e 16 2 (0, 0) t gpu_thread\n"
                                              "  e 1 4 (0, 0) t gpu_serial\n"
                                              "   e 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "e",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=4 5=1048576 6=1048576 7-9=4 10=8192 11=1 "
               "12-14=4194304 15-17=4096 20=1088 23=17 26=36 29=9 32=1088 34=1088 36=512 "
               "39=64 42=12 43=3 44=2244 45=17 46=1088 47-49=4195392 50=8192 51=9 "
               "52=0.03125 53=1 54=1 58=18 61=16 63=0.5 67=0.022135416 69=1 70=0.21875 "
               "71=32");
    expect_row(fixture,
               m,
               "d",
               0,
               "0=8192 1=8192 2=272 3=272 4=1 5=2228224 6=2098176 7-10=1 11=8192 12=1088 "
               "13=1088 14=8392704 15=64 16=64 17=4096 19=2244 22=17 25=12 28=1 31=16793604 "
               "37=1088 40=64 42=12 43=1 46-48=1088 49=4195392 50=8192 51=9 52=0.265625 "
               "53=0.94444442 54=9 57=0.015625 59=204 60=9 62=0.94444442 65=0.5 71=272");
}

TEST(AsTrainedPipelines, NothingFused) {
    const FeaturizerFixture fixture(two_outputs_graph());
    const FeatureMatrix m = fixture.featurize("g 17 65 (0, 0) t gpu_block\n"
                                              " g 64 2 (0, 0) t gpu_thread\n"
                                              "  g 1 8 (0, 0) t gpu_serial\n"
                                              "   g 1vc 1 (0, 0) * gpu_simd\n"
                                              "a 16 128 (0, 0) t gpu_block\n"
                                              " a 64 1 (0, 0) t gpu_thread\n"
                                              "  a 1 8 (0, 0) t gpu_serial\n"
                                              "   a 1vc 1 (0, 0) * gpu_simd\n"
                                              "b 32 256 (0, 0) t gpu_block\n"
                                              " b 16 2 (0, 0) t gpu_thread\n"
                                              "  b 2 2 (0, 0) t gpu_serial\n"
                                              "   b 1vc 1 (0, 0) * gpu_simd\n");
    expect_row(fixture,
               m,
               "b",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=4 5=1048576 6=1048576 7-9=4 10=8192 11=1 "
               "12-14=4194304 15-17=4096 19=4202500 22=1025 25=24 28=3 31=4202500 36=512 "
               "39=128 42=8 43=2 44=640 45=5 47-49=12591108 50=8192 51=1 52=0.03125 53=1 "
               "54=1 59=54 61=32 64=0.5 65=0.44444445 69=0.5 70=1 71=32");
    expect_row(fixture,
               m,
               "a",
               0,
               "0=1 1=1 2=1048576 3=1048576 4=8 5=1048576 6=1048576 7-9=8 10=2048 11=1 "
               "12-14=4194304 15-17=4096 19=4202500 22=1025 25=64 28=8 31=4202500 36=2048 "
               "39=256 42=8 43=1 44=2080 45=8 47-49=12591108 50=2048 51=2 52=0.0625 53=1 "
               "54=2 59=128 61=64 69=0.8125 70=0.8125 71=64");
    expect_row(fixture,
               m,
               "g",
               0,
               "0=1 1=1 2=1050625 3=1131520 4=8 5=1050625 6=1050625 7-9=8 10=1105 11=1 "
               "12-14=4202500 15-17=4100 19=4202500 22=1025 25=32 28=8 31=4202500 36=3600 "
               "39=240 42=4 43=1 44=4096 45=16 47-49=12591108 50=1105 51=4 52=0.125 53=1 "
               "54=4 59=128 61=128 69=0.875 70=0.4375 71=128");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
