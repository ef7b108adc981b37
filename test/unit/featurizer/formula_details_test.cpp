// Small schedules, each made for one detail of a formula; numbers worked out by hand.
#include <gtest/gtest.h>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

/// Columns of `row` that are not as in `values`; other columns may be anything.
std::string differences(const ScheduleFeatures &row, const std::string &values) {
    std::string message;
    for (const auto &[column, value] : parse_values(values)) {
        if (std::abs(row[column] - value) > 1e-6 * value) {
            message += std::to_string(column) + "=" + std::to_string(row[column]) + " instead of " +
                       std::to_string(value) + " ";
        }
    }
    return message;
}

class FormulaDetails : public testing::Test {
protected:
    void start(PipelineGraph graph, int parallelism = 80) {
        fixture_ = std::make_unique<FeaturizerFixture>(std::move(graph), parallelism);
    }
    void featurize(const std::string &text) { matrix_ = fixture_->featurize(text); }
    std::string check(const std::string &func, int stage, const std::string &values) const {
        return differences(matrix_.row(fixture_->stage(func, stage)), values);
    }

    std::unique_ptr<FeaturizerFixture> fixture_;
    FeatureMatrix matrix_;
};

// g has to be computed on 64 x 32 points although only 2 x 16 are read. What is allocated and
// computed counts for g itself, what is required for its readers and for the layout.
TEST_F(FormulaDetails, MoreIsComputedThanRequired) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({2, 16}).reads("g", {at("x"), at("y")});
    b.func("g", {"x", "y"}).computed_includes(0, 0, 63).computed_includes(1, 0, 31);
    b.reads("in", {at("x"), at("y")});
    b.func("in", {"_0", "_1"}).input();
    start(b.build());
    featurize("g 2 32 (0, 0) t gpu_block\n"
              " g 32 1 (0, 0) t gpu_thread\n"
              "  g 1 1 (0, 0) t gpu_serial\n"
              "   g 1v 1 (0, 0) * gpu_simd\n"
              "out 1 1 (0, 0) t gpu_block\n"
              " out 2 16 (0, 0) t gpu_thread\n"
              "  out 1 1 (0, 0) t gpu_serial\n"
              "   out 1v 1 (0, 0) * gpu_simd\n");
    EXPECT_EQ(
        check("g", 0, "2=2048 5=2048 6=32 12-14=8192 15-17=256 36=128 39=128 47=8320 48=8320"), "");
    // 32 threads read 32 neighbours.
    EXPECT_EQ(check("out", 0, "19=128 22=16 25=4 28=1 31=8192 42=4 43=1 44=128 45=16 59=4"), "");
}

// Everything is stored along y, which is where the lanes run.
TEST_F(FormulaDetails, StorageAlongTheSecondDimension) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({64, 32}).reads("g", {at("x"), at("y")});
    b.reads("f", {at("x"), at("y")});
    b.func("g", {"x", "y"}).reads("in", {at("x"), at("y")});
    b.func("f", {"x", "y"});
    b.func("in", {"_0", "_1"}).input();
    start(b.build());
    const auto nests = [](const std::string &f) {
        return f + " 8 1 (1, 1) t gpu_block\n " + f + " 1 32 (1, 1) t gpu_thread\n  " + f +
               " 8 1 (1, 1) t gpu_serial\n   " + f + " 1 1v (1, 1) * gpu_simd\n";
    };
    featurize(nests("g") + nests("out") + "    inlined: f 1\n");
    const std::string own = "15-17=128 36=1024 39=128 61=32 ";
    EXPECT_EQ(check("out", 0, own + "19=8192 22=64 25=32 28=8 44=1024 45=8 59=32"), "");
    // The input is stored along x.
    EXPECT_EQ(check("g", 0, own + "22=32 28=1 45=32 59=256"), "");
    EXPECT_EQ(check("f", 0, "14=8192 17=128"), "")
        << "the dimension of the Func it is inlined into";
}

// The level of g in out's block has no threads, so h, computed inside, runs 64 times per block.
TEST_F(FormulaDetails, SerialLevelAroundThreads) {
    GraphBuilder b;
    b.func("out", {"x"}).output({256}).reads("g", {at("x")});
    b.func("g", {"x"}).reads("h", {at("x", -1, 1)}, 3);
    b.func("h", {"x"}).reads("in", {at("x")});
    b.func("in", {"_0"}).input();
    start(b.build());
    featurize("out 4 (0, 0) t gpu_block\n"
              " g 64 (0, 0) gpu_serial\n"
              "  h 3 (0, 0) t gpu_thread\n"
              "   h 1 (0, 0) t gpu_serial\n"
              "    h 1v (0, 0) * gpu_simd\n"
              "  g 1v (0, 0) * gpu_simd\n"
              " out 64 (0, 0) t gpu_thread\n"
              "  out 1 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(check("h",
                    0,
                    "0=256 1=256 2=3 4=64 5=768 7=1 12=12 37=12 51=2 52=0.0029296875 53=0.09375 "
                    "54=1 57=0.0283203125 59=64 60=64 62=0.09375 65=0.375 71=3"),
              "");
    EXPECT_EQ(check("g", 0, "0=4 4=64 34=12 58=192 71=1"), "");
    // h is not allocated at the block.
    EXPECT_EQ(check("out", 0, "4=1 67=0.0052083333 68=1"), "");
}

// What has no threads in a block gets a single one.
TEST_F(FormulaDetails, SerialLevelWithoutThreads) {
    GraphBuilder b;
    b.func("out", {"x"}).output({256}).reads("g", {at("x")});
    b.func("g", {"x"}).reads("in", {at("x")});
    b.func("in", {"_0"}).input();
    start(b.build());
    featurize("out 4 (0, 0) t gpu_block\n"
              " g 64 (0, 0) gpu_serial\n"
              "  g 1v (0, 0) * gpu_simd\n"
              " out 64 (0, 0) t gpu_thread\n"
              "  out 1 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n");
    // Sixteen stores of four points each.
    EXPECT_EQ(check("g", 0, "4=64 51=2 53=0.03125 54=1 59=64 60=16 71=1"), "");
}

// 100 blocks on 80 multiprocessors; the grid of 127 threads is g's, out needs 32 of them.
TEST_F(FormulaDetails, ThreadsOfABlockAndOfAStage) {
    GraphBuilder b;
    b.func("out", {"x"}).output({3200}).reads("g", {at("x", 0, 95)}, 96).reads("f", {at("x")}, 2);
    b.func("g", {"x"}).reads("in", {at("x")});
    b.func("f", {"x"});
    b.func("in", {"_0"}).input();
    start(b.build());
    featurize("out 100 (0, 0) t gpu_block\n"
              " g 127 (0, 0) t gpu_thread\n"
              "  g 1 (0, 0) t gpu_serial\n"
              "   g 1v (0, 0) * gpu_simd\n"
              " out 32 (0, 0) t gpu_thread\n"
              "  out 1 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n"
              "    inlined: f 2\n");
    EXPECT_EQ(check("out", 0, "50=100 51=4 52=0.03125 53=1 54=1 57=0 69=0.125 70=0.0625 71=32"),
              "");
    EXPECT_EQ(check("g",
                    0,
                    "50=100 51=4 52=0.1240234375 53=0.9921875 54=4 57=0.0009765625 69=0 70=0 "
                    "71=127"),
              "");
    EXPECT_EQ(check("f", 0, "4=2 8=1 10=1 11=100 18=6400 50=100 51=800 71=32"), "");
}

class InlinedIntoTwoFuncs : public FormulaDetails {
protected:
    InlinedIntoTwoFuncs() {
        GraphBuilder b;
        b.func("b", {"x", "y"}).output({64, 32}).reads("g", {at("x", 0, 1), at("y")}, 3);
        b.func("a", {"x", "y"}).output({64, 32}).reads("g", {at("x"), at("y")}, 2);
        b.func("g", {"x", "y"}).reads("in", {at("x"), at("y")});
        b.func("in", {"_0", "_1"}).input();
        start(b.build());
    }
    const std::string a_ = "a 2 32 (0, 0) t gpu_block\n"
                           " a 32 1 (0, 0) t gpu_thread\n"
                           "  a 1 1 (0, 0) t gpu_serial\n"
                           "   a 1v 1 (0, 0) * gpu_simd\n"
                           "    inlined: g 2\n";
    const std::string b_ = "b 8 2 (1, 1) t gpu_block\n"
                           " b 1 24 (1, 1) t gpu_thread\n"
                           "  b 8 1 (1, 1) t gpu_serial\n"
                           "   b 1 1v (1, 1) * gpu_simd\n"
                           "    inlined: g 3\n";
    // Sums; the least extent of the loops.
    const std::string both_ = "4=26 6=2080 8=1 10=1 14=8320 18=13312 51=512 71=56 ";
};

// Texts list the children of a nest from the last to the first.
TEST_F(InlinedIntoTwoFuncs, TheLastOneDecidesBlocksAndDimension) {
    featurize(b_ + a_);
    EXPECT_EQ(check("g", 0, both_ + "11=16 50=16 17=128"), "");
}

TEST_F(InlinedIntoTwoFuncs, InTheOtherOrder) {
    featurize(a_ + b_);
    EXPECT_EQ(check("g", 0, both_ + "11=64 50=64 17=260"), "");
}

// Stages without a lane loop: reductions into Funcs without dimensions, and a scalar.
TEST_F(FormulaDetails, InlinedIntoStagesWithoutLanes) {
    GraphBuilder b;
    b.func("out", {"x"}).output({64}).reads("p", {}).reads("q", {});
    b.func("q", {}).reads("h", {constant(3, 3)}, 2);
    b.update({{"r", 0, 49}}, {}).reads("g", {at("r")});
    b.func("p", {}).update({{"r", 0, 99}}, {}).reads("g", {at("r")}, 2);
    b.func("h", {"x"});
    b.func("g", {"x"}).reads("in", {at("x")});
    b.func("in", {"_0"}).input();
    start(b.build());
    featurize("p (-1, 0) gpu_none\n"
              " p (-1, 0) * gpu_simd\n"
              "p 100 (-1, 0) gpu_none\n"
              " p 1 (-1, 0) * gpu_simd\n"
              "  inlined: g 2\n"
              "q (-1, 0) gpu_none\n"
              " q (-1, 0) * gpu_simd\n"
              "  inlined: h 2\n"
              "q 50 (-1, 0) gpu_none\n"
              " q 1 (-1, 0) * gpu_simd\n"
              "  inlined: g 1\n"
              "out 1 (0, 0) t gpu_block\n"
              " out 64 (0, 0) t gpu_thread\n"
              "  out 1 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(check("p", 1, "35=100 7=100 8=1 9=1 4=100"), "");
    EXPECT_EQ(check("g", 0, "4=250 6=100 8=1 18=250 35=250 51=250 71=2"), "");
    EXPECT_EQ(check("h", 0, "18=2 35=2 50=1 51=2 71=1 4=2 8=1"), "");
}

// A scatter has no lane loop either; it is run once per block.
TEST_F(FormulaDetails, ScatterInsideABlock) {
    GraphBuilder b;
    b.func("out", {"x"}).output({128}).reads("h", {constant(0, 3)}, 4);
    b.func("h", {"i"}).computed_includes(0, 0, 3);
    b.update({{"r", 0, 15}}, {constant(0, 3)}).reads("in", {at("r")});
    b.func("in", {"_0"}).input();
    start(b.build());
    featurize("out 4 (0, 0) t gpu_block\n"
              " h 4 (0, 0) t gpu_thread\n"
              "  h 1 (0, 0) t gpu_serial\n"
              "   h 1v (0, 0) * gpu_simd\n"
              " h 1 (-1, 0) gpu_thread\n"
              "  h 16 (-1, 0) gpu_serial\n"
              "   h 1 (-1, 0) * gpu_simd\n"
              " out 32 (0, 0) t gpu_thread\n"
              "  out 1 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(check("h", 0, "0=4 2=4 35=0"), "");
    EXPECT_EQ(check("h", 1, "0=4 2=16 4=16 5=64 35=64"), "");
}

// With a single multiprocessor nothing counts as parallel.
TEST_F(FormulaDetails, OneMultiprocessor) {
    GraphBuilder b;
    b.func("out", {"x"}).output({256}).reads("g", {at("x")});
    b.func("g", {"x"});
    start(b.build(), 1);
    featurize("out 4 (0, 0) t gpu_block\n"
              " g 64 (0, 0) t gpu_thread\n"
              "  g 1 (0, 0) t gpu_serial\n"
              "   g 1v (0, 0) * gpu_simd\n"
              " out 64 (0, 0) t gpu_thread\n"
              "  out 1 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(check("out", 0, "10=1 11=1 50=4 69=0.125 70=0.125"), "");
    EXPECT_EQ(check("g", 0, "10=1 11=1 50=4"), "");
}

// Only pure loops outside of all others run in parallel.
TEST_F(FormulaDetails, ReductionsInTheGrid) {
    GraphBuilder b;
    b.func("f", {"x"}).output({32});
    b.update({{"p", 0, 3, true}, {"q", 0, 3, false}}, {at("x")});
    start(b.build());
    const LoopNestEditor &editor = fixture_->editor();
    const LoopNestPtr root = editor.make_root();
    SplitOptions outward;
    outward.reductions_inward = false;
    std::vector<LoopNestPtr> nests;
    for (const LoopNestPtr &n : editor.place(0, 0, *root, false)) {
        const LoopNestPtr outer = editor.split(*n, {1}, *root, outward);
        nests.push_back(editor.split(*outer, {8}, *root, outward));
    }
    matrix_ = fixture_->featurizer().featurize(editor.with_children(*root, nests)).features;
    EXPECT_EQ(check("f", 0, "10=4 50=4"), "");
    EXPECT_EQ(check("f", 1, "10=4 50=64 4=1 7-9=1"), "");
}

// A small reduction would be unrolled if it were not a reduction.
TEST_F(FormulaDetails, ReductionsAreNotUnrolled) {
    GraphBuilder b;
    b.func("f", {"x"}).output({64}).update({{"r", 0, 3}}, {at("x")}).reads("in", {at("r")});
    b.func("in", {"_0"}).input();
    start(b.build());
    featurize("f 1 (0, 0) t gpu_block\n"
              " f 16 (0, 0) t gpu_thread\n"
              "  f 4 (0, 0) t gpu_serial\n"
              "   f 1v (0, 0) * gpu_simd\n"
              "f 1 1 (1, 0) t gpu_block\n"
              " f 1 16 (1, 0) t gpu_thread\n"
              "  f 4 4 (1, 0) t gpu_serial\n"
              "   f 1 1v (1, 0) * gpu_simd\n");
    EXPECT_EQ(check("f", 0, "7-9=4"), "");
    EXPECT_EQ(check("f", 1, "7=16 8=4 9=1"), "");
}

// Whatever is read stays at the root if no nest reads less of it than all.
TEST_F(FormulaDetails, LinesOfFuncsThatAreNotPlaced) {
    GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("g", {constant(0, 9), constant(0, 99)}, 1000);
    b.func("g", {"x", "y"});
    start(b.build());
    featurize("out 8 (0, 0) t gpu_block\n"
              " out 32 (0, 0) t gpu_thread\n"
              "  out 4 (0, 0) t gpu_serial\n"
              "   out 1v (0, 0) * gpu_simd\n");
    EXPECT_EQ(check("out", 0, "19=4000 22=10 25=4000 28=10 31=4000 42=4000 43=10 44=4000 45=10"),
              "");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
