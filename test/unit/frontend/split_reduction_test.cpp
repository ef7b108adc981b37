// Which reductions may be split how, and that splitting does not change what they compute.
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "built_graph.h"
#include "frontend/split_reduction.h"

namespace anderson2021 {
namespace test {
namespace {

using namespace Halide;  // NOLINT(google-build-using-namespace)

constexpr auto kFixed = ReductionOrder::Fixed;
constexpr auto kRuns = ReductionOrder::Runs;
constexpr auto kFree = ReductionOrder::Free;

class SplitReduction : public testing::Test {
protected:
    SplitReduction() : values_(1003) {
        for (int i = 0; i < values_.width(); i++) {
            values_(i) = (i * 37 + i / 11 * 5) % 251;
        }
        s_() = 3;
    }

    ReductionOrder order(const Func &f, const Target &target = gpu_target()) const {
        return reduction_order(f.function(), 0, target);
    }

    /// Splits the loop, and returns the Func of partial results.
    Func split(Func f, int64_t factor, bool in_runs = false, size_t loop = 0) {
        ReductionSplit split;
        split.loops.resize(1);
        split.loops[0].var = f.update(0).get_schedule().dims()[loop].var;
        split.loops[0].factor = factor;
        split.loops[0].in_runs = in_runs;
        complete_split(f.function(), split);
        EXPECT_EQ(split.loops[0].dims_index, static_cast<int>(loop));
        return Func(carry_out_split(f.function(), split));
    }

    Buffer<int> values_;
    Var x_{"x"};
    RDom r_{0, 1003, "r"};
    Func s_{"s"};
};

TEST_F(SplitReduction, KnowsWhichOrderMatters) {
    s_() += values_(r_);
    EXPECT_EQ(order(s_), kFree);

    Func maximum, histogram, pair, chosen;
    maximum() = 0;
    maximum() = max(maximum(), values_(r_));
    EXPECT_EQ(order(maximum), kFree);
    histogram(x_) = 0;
    histogram(values_(r_)) += 1;
    EXPECT_EQ(order(histogram), kFree);
    pair() = Tuple(0, 1);
    pair() = Tuple(pair()[0] + values_(r_), max(pair()[1], values_(r_)));
    EXPECT_EQ(order(pair), kFree);
    chosen() = 0;
    chosen() = select(values_(r_) > 3, chosen() + 1, chosen());
    EXPECT_EQ(order(chosen), kFree);
}

TEST_F(SplitReduction, LeavesWhatIsNotAssociative) {
    s_() = s_() * 3 + values_(r_);
    EXPECT_EQ(order(s_), kFixed);

    Func scan, last, difference;
    scan(x_) = x_;
    scan(r_) += scan(max(r_ - 1, 0));
    EXPECT_EQ(order(scan), kFixed);
    last(x_) = 0;
    last(values_(r_)) = r_;
    EXPECT_EQ(order(last), kFixed);
    difference() = 0;
    difference() = values_(r_) - difference();
    EXPECT_EQ(order(difference), kFixed);
}

TEST_F(SplitReduction, LeavesWhatDependsOnTheResultSoFar) {
    RDom r(0, 1003);
    r.where(s_() < 100);
    s_() += values_(r);
    EXPECT_EQ(order(s_), kFixed);

    Func places;
    places(x_) = 0;
    places(clamp(places(r_), 0, 9)) += 1;
    EXPECT_EQ(order(places), kFixed);
}

TEST_F(SplitReduction, KeepsStrictFloats) {
    Func sum;
    sum() = 0.0f;
    sum() += cast<float>(values_(r_));
    EXPECT_EQ(order(sum), kFree);
    EXPECT_EQ(order(sum, gpu_target().with_feature(Target::StrictFloat)), kFixed);
    s_() += values_(r_);
    EXPECT_EQ(order(s_, gpu_target().with_feature(Target::StrictFloat)), kFree);
}

// The last of several equal values wins.
Func place_of_maximum(const Buffer<int> &values, const RDom &r) {
    Func best("best");
    best() = Tuple(-1, -1);
    const Expr better = best()[0] <= values(r);
    best() = Tuple(select(better, values(r), best()[0]), select(better, r, best()[1]));
    return best;
}

TEST_F(SplitReduction, PutsPlacesInOrder) {
    EXPECT_EQ(order(place_of_maximum(values_, r_)), kRuns);
    RDom some(0, 1003);
    some.where(some > 20);
    EXPECT_EQ(order(place_of_maximum(values_, some)), kFixed) << "parts may be empty";

    values_(500) = values_(502) = values_(501) = values_(3) = 1000;
    Func best = place_of_maximum(values_, r_);
    split(best, 17, true);
    Realization result = best.realize();
    EXPECT_EQ(Buffer<int>(result[0])(), 1000);
    EXPECT_EQ(Buffer<int>(result[1])(), 502);
}

TEST_F(SplitReduction, SumsUpTheSame) {
    int want = 3;
    for (int i = 0; i < values_.width(); i++) {
        want += values_(i);
    }
    s_() += values_(r_);
    Func parts = split(s_, 32);
    EXPECT_EQ(parts.dimensions(), 1);
    EXPECT_EQ(parts.args()[0].name(), "part");
    // Its parts are reduced in the same way.
    EXPECT_EQ(split(s_, 8).args()[0].name(), "part");
    Buffer<int> result = s_.realize();
    EXPECT_EQ(result(), want);
}

TEST_F(SplitReduction, AvoidsNamesThatAreTaken) {
    Var part("part"), step("step");
    Func f("f");
    f(part, step) = 0;
    f(part, step) += values_(r_) * part;
    Func parts = split(f, 32);
    EXPECT_EQ(parts.args()[2].name(), "part2");
    Buffer<int> have = f.realize({3, 2});
    EXPECT_EQ(have(2, 1), 2 * have(1, 0));
}

TEST_F(SplitReduction, CountsTheSameAtEverySize) {
    Param<int> count;
    RDom r(0, count, "r");
    Func histogram("histogram");
    histogram(x_) = 0;
    histogram(clamp(values_(r), 0, 250) % 16) += 1;
    split(histogram, 64);
    for (const int n : {1, 63, 64, 65, 1003}) {
        count.set(n);
        Buffer<int> have = histogram.realize({16});
        std::vector<int> want(16);
        for (int i = 0; i < n; i++) {
            want[static_cast<size_t>(values_(i) % 16)]++;
        }
        EXPECT_EQ(std::vector<int>(have.begin(), have.end()), want) << n;
    }
}

// Reads of the parts must be known to be regular, or their costs are out of proportion.
TEST_F(SplitReduction, LeavesAccessesRegular) {
    ImageParam in = image(Int(32), "in", {96, 50});
    RDom r(0, 96, 0, 50, "r");
    s_() += in(r.x, r.y);
    split(s_, 32);
    s_.set_estimates({});
    const Built built({s_});
    const StageNode &update = built.graph().func(1).stages.at(1);
    ASSERT_EQ(update.incoming_edges.size(), 1u);
    const Edge &edge = built.graph().edge(update.incoming_edges[0]);
    ASSERT_EQ(edge.load_jacobians.size(), 1u);
    EXPECT_TRUE(edge.all_load_jacobians_exist()) << matrix_text(edge.load_jacobians[0]);
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
