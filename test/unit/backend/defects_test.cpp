// Pipelines that schedulers are known to get wrong, each with a tree that provokes it.
#include <gtest/gtest.h>
#include <sstream>

#include "schedule/schedule_rebuilder.h"
#include "schedule_checker.h"

namespace anderson2021 {
namespace test {
namespace {

using namespace Halide;

/// The text with the names that the Funcs have in this process: f may be called f$3.
std::string with_unique_names(const std::string &text, const PipelineGraph &graph) {
    std::istringstream lines(text);
    std::string result, line;
    while (std::getline(lines, line)) {
        const size_t begin = line.find_first_not_of(' ');
        if (begin != std::string::npos) {
            const std::string name = line.substr(begin, line.find(' ', begin) - begin);
            for (const FuncNode &f : graph.funcs) {
                if (f.name.substr(0, f.name.find('$')) == name) {
                    line.replace(begin, name.size(), f.name);
                    break;
                }
            }
        }
        result += line + "\n";
    }
    return result;
}

std::function<LoopNestPtr(const LoopNestEditor &)> tree(const std::string &text) {
    return [text](const LoopNestEditor &editor) {
        return rebuild_schedule(parse_schedule(with_unique_names(text, editor.graph()), "test"),
                                editor);
    };
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

class Defects : public testing::Test {
protected:
    void SetUp() override {
        if (!has_device()) {
            GTEST_SKIP() << "No device for " << device_target();
        }
    }

    /// Expects the schedule with that tree to be correct at all sizes.
    void check(const std::function<TestPipeline()> &make, const std::string &text) {
        ScheduleChecker checker(make);
        EXPECT_EQ(checker.check(tree(text)), "") << checker.description();
        printed_ = checker.description();
    }

    std::string printed_;
    const Var x{"x"}, y{"y"}, c{"c"}, d{"d"}, e{"e"};
};

TestPipeline with_image(const std::vector<int> &estimate, const std::vector<int> &input) {
    TestPipeline p;
    p.estimate = estimate;
    ImageParam in(UInt(8), static_cast<int>(input.size()), "in");
    for (size_t i = 0; i < input.size(); i++) {
        in.dim(static_cast<int>(i)).set_estimate(0, input[i]);
    }
    p.inputs = {in};
    return p;
}

Expr i32(const Expr &value) {
    return cast<int>(value);
}

// The loops of f are not in the order of its dimensions; its box in a thread of g is 3 x 6.
TEST_F(Defects, StagedFuncWithReorderedLoops) {
    check(
        [&] {
            TestPipeline p = with_image({64, 64}, {66, 66});
            Func f("f"), g("g");
            f(x, y) = i32(p.inputs[0](x, y)) * 3;
            f.reorder(y, x);
            g(x, y) = f(x, y) + f(x + 2, y + 2) + f(x + 1, y) + f(x, y + 1) + f(x + 1, y + 1);
            p.outputs = {g};
            return p;
        },
        R"(
f 66 3 (1, 0) t gpu_block
 f 1 32 (1, 0) t gpu_thread
  f 1 1 (1, 0) t gpu_serial
   f 1 1 (1, 0) * gpu_simd
g 2 8 (0, 0) t gpu_block
 g 32 2 (0, 0) t gpu_thread
  g 1 4 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
    EXPECT_TRUE(contains(printed_, ".in(g")) << printed_;
    EXPECT_TRUE(contains(printed_, ".split(x, x, xi, 3, TailStrategy::RoundUp)")) << printed_;
}

// With the estimate, one thread of g needs a box of 1 x 3 points of f; at run time it needs more.
TEST_F(Defects, ParameterTakenForItsEstimate) {
    const auto make = [&] {
        TestPipeline p = with_image({64, 64}, {64, 66});
        Param<int> offset("offset");
        offset.set_estimate(2);
        p.params = {{offset, 5}};
        Func f("f"), g("g");
        f(x, y) = i32(p.inputs[0](x, y)) * 3;
        g(x, y) = f(x, y) + f(x, y + offset);
        p.outputs = {g};
        return p;
    };
    check(make, R"(
f 2 66 (0, 0) t gpu_block
 f 32 1 (0, 0) t gpu_thread
  f 1 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
g 2 16 (0, 0) t gpu_block
 g 32 4 (0, 0) t gpu_thread
  g 1 1 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
    check(make, R"(
g 2 16 (0, 0) t gpu_block
 g 32 4 (0, 0) t gpu_thread
  f 1 3 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
  g 1 1 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
    check(make, R"(
g 2 16 (0, 0) t gpu_block
 f 32 6 (0, 0) t gpu_thread
  f 1 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
 g 32 4 (0, 0) t gpu_thread
  g 1 1 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
}

// The middle dimension has one block by estimate only.
TEST_F(Defects, LoopBetweenBlocks) {
    check(
        [&] {
            TestPipeline p = with_image({40, 4, 30}, {40, 4, 30});
            Func f("f");
            f(x, c, y) = i32(p.inputs[0](x, c, y)) * 3;
            p.outputs = {f};
            return p;
        },
        R"(
f 2 1 30 (0, 0) t gpu_block
 f 32 4 1 (0, 0) t gpu_thread
  f 1 1 1 (0, 0) t gpu_serial
   f 1 1 1 (0, 0) * gpu_simd
)");
}

// A reduction of one iteration by estimate only; the update is not associative.
TEST_F(Defects, ReductionsOfOneIteration) {
    const auto make = [&] {
        TestPipeline p = with_image({64, 20}, {64, 23});
        Param<int> width("width");
        width.set_estimate(1);
        p.params = {{width, 3}};
        Func f("f"), g("g");
        RDom r(0, width, 0, 4, "r");
        f(x, y) = 1;
        f(x, y) = f(x, y) * 3 + i32(p.inputs[0](x, y + r.x)) - r.y;
        g(x, y) = f(x, y) + 1;
        p.outputs = {g};
        return p;
    };
    check(make, R"(
f 2 20 (0, 0) t gpu_block
 f 32 1 (0, 0) t gpu_thread
  f 1 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
f 1 1 2 20 (2, 0) t gpu_block
 f 1 1 32 1 (2, 0) t gpu_thread
  f 1 4 1 1 (2, 0) t gpu_serial
   f 1 1 1 1 (2, 0) * gpu_simd
g 2 20 (0, 0) t gpu_block
 g 32 1 (0, 0) t gpu_thread
  g 1 1 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
    check(make, R"(
g 2 5 (0, 0) t gpu_block
 f 32 4 (0, 0) t gpu_thread
  f 1 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
 f 1 1 32 4 (2, 0) t gpu_thread
  f 1 4 1 1 (2, 0) t gpu_serial
   f 1 1 1 1 (2, 0) * gpu_simd
 g 32 4 (0, 0) t gpu_thread
  g 1 1 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
}

// The input is narrower than the output, so that right of it the box of f in a block has fewer
// points than a tile.
TEST_F(Defects, ClampedProducerInABlock) {
    check(
        [&] {
            TestPipeline p = with_image({100, 70}, {100, 70});
            p.input_extents = [](const std::vector<int> &size) -> std::vector<std::vector<int>> {
                return {{40, size[1]}};
            };
            Func f("f"), g("g");
            f(x, y) = i32(p.inputs[0](x, y)) * 3;
            const Expr last = p.inputs[0].width() - 1;
            g(x, y) = f(clamp(x, 0, last), y) + f(clamp(x + 1, 0, last), y);
            p.outputs = {g};
            return p;
        },
        R"(
g 4 35 (0, 0) t gpu_block
 f 16 2 (0, 0) t gpu_thread
  f 3 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
 g 32 2 (0, 0) t gpu_thread
  g 1 1 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
}

TEST_F(Defects, OutputsSmallerThanATile) {
    check(
        [&] {
            TestPipeline p = with_image({256, 256}, {258, 258});
            Func f("f"), g("g");
            f(x, y) = i32(p.inputs[0](x, y)) * 3;
            g(x, y) = f(x, y) + f(x + 2, y + 1);
            p.outputs = {g};
            return p;
        },
        R"(
g 4 2 (0, 0) t gpu_block
 f 22 4 (0, 0) t gpu_thread
  f 3 33 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
 g 64 16 (0, 0) t gpu_thread
  g 1 8 (0, 0) t gpu_serial
   g 1 1 (0, 0) * gpu_simd
)");
}

TEST_F(Defects, ArgumentsNamedLikeSplits) {
    const Var xi("xi"), xii("xii");
    check(
        [&] {
            TestPipeline p = with_image({64, 32, 4}, {64, 32, 4});
            Func f("f");
            f(x, xi, xii) = i32(p.inputs[0](x, xi, xii)) * 3;
            p.outputs = {f};
            return p;
        },
        R"(
f 2 8 4 (0, 0) t gpu_block
 f 16 4 1 (0, 0) t gpu_thread
  f 2 1 1 (0, 0) t gpu_serial
   f 1 1 1 (0, 0) * gpu_simd
)");
}

// Without tiles, as a search that never tiles leaves it.
TEST_F(Defects, UntiledStages) {
    check(
        [&] {
            TestPipeline p = with_image({50, 30}, {50, 33});
            Func f("f"), g("g");
            RDom r(0, 4, "r");
            f(x, y) = 0;
            f(x, y) += i32(p.inputs[0](x, y + r)) * (r + 1);
            g(x, y) = f(x, y) + 1;
            p.outputs = {g};
            return p;
        },
        R"(
f 50 30 (0, 0) t gpu_none
 f 1 1 (0, 0) * gpu_simd
f 4 50 30 (1, 0) t gpu_none
 f 1 1 1 (1, 0) * gpu_simd
g 50 30 (0, 0) t gpu_none
 g 1 1 (0, 0) * gpu_simd
)");
}

TEST_F(Defects, FiveDimensions) {
    check(
        [&] {
            TestPipeline p = with_image({20, 6, 5, 4, 3}, {20, 6, 5, 4, 3});
            Func f("f");
            f(x, y, c, d, e) = i32(p.inputs[0](x, y, c, d, e)) + x + 2 * y + 3 * c + 4 * d + 5 * e;
            p.outputs = {f};
            return p;
        },
        R"(
f 2 6 5 4 3 (0, 0) t gpu_block
 f 16 1 1 1 1 (0, 0) t gpu_thread
  f 1 1 1 1 1 (0, 0) t gpu_serial
   f 1 1 1 1 1 (0, 0) * gpu_simd
)");
    EXPECT_TRUE(contains(printed_, ".fuse(c, d, c)\n    .fuse(c, e, c)\n    .gpu_blocks(c)"))
        << printed_;
}

// A Func in the iterations of a reduction into a scalar: all of it runs in one thread.
TEST_F(Defects, FuncInsideAScalarReduction) {
    const auto make = [&] {
        TestPipeline p = with_image({16}, {40});
        p.input_extents = [](const std::vector<int> &) -> std::vector<std::vector<int>> {
            return {{40}};
        };
        Func f("f"), total("total"), g("g");
        RDom r(0, 38, "r");
        f(x) = i32(p.inputs[0](x)) * 3 + p.inputs[0](x + 1);
        total() = 0;
        total() += f(r) * f(r + 1);
        g(x) = total() + x;
        p.outputs = {g};
        return p;
    };
    check(make, R"(
total (-1, 0) t gpu_none
 total (-1, 0) * gpu_simd
total 38 (-1, 0) t gpu_none
 f 2 (0, 0) t gpu_serial
  f 1 (0, 0) * gpu_simd
 total 1 (-1, 0) * gpu_simd
g 1 (0, 0) t gpu_block
 g 16 (0, 0) t gpu_thread
  g 1 (0, 0) t gpu_serial
   g 1 (0, 0) * gpu_simd
)");
}

// The update of table has no loop that could become a thread; g lives in the thread that does it.
TEST_F(Defects, FuncInsideAReductionInABlock) {
    check(
        [&] {
            TestPipeline p = with_image({64, 32}, {16});
            p.input_extents = [](const std::vector<int> &) -> std::vector<std::vector<int>> {
                return {{16}};
            };
            Func f("f"), g("g"), table("table");
            RDom r(1, 7, "r");
            g(x) = i32(p.inputs[0](x)) * 3 + p.inputs[0](x + 1);
            table(x) = 5;
            table(r) = table(r - 1) * 3 + g(r) * g(r + 2);
            f(x, y) = table(clamp(x, 0, 7)) + y;
            p.outputs = {f};
            return p;
        },
        R"(
f 2 16 (0, 0) t gpu_block
 table 8 (0, 0) t gpu_thread
  table 1 (0, 0) t gpu_serial
   table 1 (0, 0) * gpu_simd
 table 1 (-1, 0) t gpu_thread
  table 7 (-1, 0) t gpu_serial
   g 3 (0, 0) t gpu_serial
    g 1 (0, 0) * gpu_simd
   table 1 (-1, 0) * gpu_simd
 f 32 2 (0, 0) t gpu_thread
  f 1 1 (0, 0) t gpu_serial
   f 1 1 (0, 0) * gpu_simd
)");
    EXPECT_TRUE(contains(printed_, ".gpu_threads(thread)")) << printed_;
}

TEST_F(Defects, OutputWithoutDimensions) {
    check(
        [&] {
            TestPipeline p = with_image({}, {40});
            p.input_extents = [](const std::vector<int> &) -> std::vector<std::vector<int>> {
                return {{40}};
            };
            Func total("total");
            RDom r(0, 40, "r");
            total() = 0;
            total() += i32(p.inputs[0](r)) * (r + 1);
            p.outputs = {total};
            return p;
        },
        R"(
total (-1, 0) t gpu_none
 total (-1, 0) * gpu_simd
total 40 (-1, 0) t gpu_none
 total 1 (-1, 0) * gpu_simd
)");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
