#include <chrono>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "graph_fixtures.h"
#include "schedule/schedule_parser.h"
#include "schedule/schedule_text.h"
#include "schedule_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

std::string error_of(const std::string &text) {
    try {
        parse_schedule(text, "file");
    } catch (const UserError &e) {
        return e.what();
    }
    return "";
}

/// Lines of `text` that mention `func`.
std::string lines_about(const std::string &text, const std::string &func) {
    std::istringstream in(text);
    std::string result;
    for (std::string line; std::getline(in, line);) {
        if (line.find(func + " ") != std::string::npos) {
            result += line + "\n";
        }
    }
    return result;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
    const size_t pos = text.find(from);
    EXPECT_NE(pos, std::string::npos) << from;
    return text.replace(pos, from.size(), to);
}

TEST(ParseSchedule, Tree) {
    const ParsedSchedule s = parse_schedule(test::kMatMulInBlock, "file");
    ASSERT_EQ(s.nests.size(), 1u);
    const ParsedNest &block = s.nests[0];
    EXPECT_EQ(block.func, "out");
    EXPECT_EQ(block.axis, GpuAxis::Block);
    EXPECT_EQ(block.size, (std::vector<int64_t>{16, 256}));
    EXPECT_EQ(block.lane_loop, 0);
    EXPECT_EQ(block.vector_dim, 0);
    EXPECT_FALSE(block.innermost);
    EXPECT_EQ(block.line, 3);
    ASSERT_EQ(block.realized.size(), 1u);
    EXPECT_EQ(block.realized[0].func, "prod");
    EXPECT_EQ(block.realized[0].extents, (std::vector<int64_t>{64, 4}));
    EXPECT_EQ(block.realized[0].num_stages, 2);
    ASSERT_EQ(block.children.size(), 3u);
    EXPECT_EQ(block.children[1].lane_loop, 1);
    EXPECT_EQ(block.children[1].size, (std::vector<int64_t>{1, 64, 1}));
    EXPECT_EQ(block.children[2].func, "out");
    EXPECT_TRUE(block.children[2].children[0].children[0].innermost);
    EXPECT_EQ(s.funcs.at("prod").lines.size(), 7u);
    EXPECT_FALSE(s.funcs.at("prod").at_root);
    EXPECT_TRUE(s.funcs.at("out").at_root);
}

TEST(ParseSchedule, ScalarsInlinedFuncsAndNames) {
    const ParsedSchedule s = parse_schedule(R"(# a comment

realize: sum$1 [] with 1 stages
sum$1 (-1, 0) t gpu_none
 sum$1 (-1, 0) * gpu_simd
  inlined: h$2 18
)",
                                            "file");
    const ParsedNest &leaf = s.nests.at(0).children.at(0);
    EXPECT_EQ(leaf.lane_loop, -1);
    EXPECT_TRUE(leaf.size.empty());
    ASSERT_EQ(leaf.inlined.size(), 1u);
    EXPECT_EQ(leaf.inlined[0].calls, 18);
    EXPECT_TRUE(s.funcs.at("h$2").inlined);
    EXPECT_TRUE(s.funcs.at("sum$1").untiled);
    EXPECT_TRUE(s.realized.at(0).extents.empty());
}

TEST(ParseSchedule, RealizationsOfAncestorsAreIgnored) {
    const test::Pipeline p(test::mat_mul_graph());
    const LoopNestPtr root = p.tree(test::kMatMulInThread);
    const ParsedSchedule own = parse_schedule(print_schedule(*root, p.graph), "file");
    const ParsedSchedule other = parse_schedule(print_schedule(*root, p.graph, true), "file");
    ASSERT_EQ(own.funcs.size(), other.funcs.size());
    for (const auto &f : own.funcs) {
        const auto &lines = other.funcs.at(f.first).lines;
        ASSERT_EQ(f.second.lines.size(), lines.size());
        for (size_t i = 0; i < lines.size(); i++) {
            EXPECT_EQ(f.second.lines[i].second, lines[i].second);
        }
    }
    EXPECT_FALSE(other.funcs.at("prod").at_root);
}

TEST(ParseSchedule, RealizationAloneSaysNothing) {
    EXPECT_TRUE(parse_schedule("realize: f [3c] with 1 stages\n", "file").funcs.empty());
}

TEST(ParseSchedule, LinesOfAnyBlanksAreIgnored) {
    EXPECT_EQ(error_of("\t\n \v\n\f\r\nout 16 (0, 0) t gpu_block\n"), "");
}

TEST(ParseSchedule, ErrorsNameFileLineAndFunc) {
    const struct {
        const char *text, *error;
    } cases[] = {
        {"\n# x\nout 16c\n", "file:3: Func out: the line ends where the lane loop should follow"},
        {"out\n", "file:1: Func out: the line ends where a size should follow"},
        {"out 16q (0, 0) t gpu_block\n", "file:1: Func out: '16q' is no size"},
        {"out -3 (0, 0) t gpu_block\n", "file:1: Func out: '-3' is no size"},
        {"out 99999999999999999999 (0, 0) t gpu_block\n",
         "file:1: Func out: '99999999999999999999' is no size"},
        {"out 16 (0 0) t gpu_block\n", "file:1: Func out: '(0' should be '(<lane loop>,'"},
        {"out 16 (x, 0) t gpu_block\n", "file:1: Func out: 'x' is no lane loop"},
        {"out 16 (1, 0) t gpu_block\n", "file:1: Func out: there is no loop 1"},
        // Not loop 0, as 32 bits would have it.
        {"out 16 (4294967296, 0) t gpu_block\n",
         "file:1: Func out: '4294967296' is too large for a lane loop"},
        {"out 16 (0, 4294967296) t gpu_block\n",
         "file:1: Func out: '4294967296' is too large for a vector dimension"},
        {"realize: f [3c] with 4294967297 stages\n",
         "file:1: Func f: '4294967297' is too large for a number of stages"},
        {"out 16 (0, 0 t gpu_block\n", "file:1: Func out: '0' should be '<vector dimension>)'"},
        {"out 16 (0, 0) t gpu_warp\n", "file:1: Func out: 'gpu_warp' is no label"},
        {"out 16 (0, 0) t gpu_block x\n", "file:1: Func out: 'x' is no label"},
        {"out 1v 1 (1, 0) * gpu_simd\n",
         "file:1: Func out: size 0 is marked as the lane loop, but (1, ...) says otherwise"},
        {"realize: f [3c, x] with 1 stages\n", "file:1: Func f: 'x' is no extent"},
        {"realize: f [3c with 1 stages\n", "file:1: Func f: 'with' is no extent"},
        {"realize: f [ with 1 stages\n", "file:1: Func f: '' is no extent"},
        {"realize: f [3c] in 1 stages\n", "file:1: Func f: 'in' where 'with' should be"},
        {"realize: f [3c] with 0 stages\n", "file:1: Func f: '0' is no number of stages"},
        {"realize: f [3c] with 1 stages x\n", "file:1: Func f: unexpected 'x'"},
        {"inlined: f\n", "file:1: Func f: the line ends where the number of calls should follow"},
        {"inlined: f 0\n", "file:1: Func f: '0' is no number of calls"},
        {"inlined: f 1 2\n", "file:1: Func f: unexpected '2'"},
        {"inlined: f 1\nf 3 (0, 0) t gpu_block\n", "file:2: Func f is inlined elsewhere"},
    };
    for (const auto &c : cases) {
        EXPECT_EQ(error_of(c.text), c.error) << c.text;
    }
}

TEST(ReadScheduleFile, MissingOrUnreadable) {
    EXPECT_THROW(read_schedule_file("/nonexistent/schedule"), UserError);
    EXPECT_THROW(read_schedule_file(::testing::TempDir()), UserError);
}

TEST(ReadScheduleFile, EndlessFilesAreNotReadToTheEnd) {
    try {
        read_schedule_file("/dev/zero");
        FAIL();
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("more than"), std::string::npos) << e.what();
    }
}

TEST(ParseSchedule, ManyRealizationsTakeNoTime) {
    std::string text;
    for (int i = 0; i < 10000; i++) {
        text += "realize: f [] with 1 stages\n  f 1 (0, 0) t gpu_thread\n";
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(parse_schedule(text, "file").funcs.size(), 1u);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ReadScheduleFile, RoundTrip) {
    // The same test of another build may run at the same time.
    const std::string path =
        ::testing::TempDir() + "anderson_schedule_parser_test_" + std::to_string(getpid()) + ".txt";
    std::ofstream(path) << test::kMatMulInBlock;
    EXPECT_EQ(read_schedule_file(path).funcs.size(), 2u);
    EXPECT_EQ(read_schedule_file(path).source, path);
    std::remove(path.c_str());
}

TEST(CheckFuncNames, NamesTheUnknownFunc) {
    const PipelineGraph graph = test::mat_mul_graph();
    EXPECT_NO_THROW(check_func_names(parse_schedule(test::kMatMulInBlock, "f"), graph));
    try {
        check_func_names(parse_schedule("prod$1 3 (0, 0) t gpu_block\n", "f"), graph);
        FAIL();
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("prod$1"), std::string::npos);
    }
}

class Matching : public ::testing::Test {
protected:
    bool matches_text(const std::string &text, const LoopNest &root) {
        return matches(parse_schedule(text, "file"), root, p_.graph, &mismatch_);
    }

    const test::Pipeline p_{test::mat_mul_graph()};
    const LoopNestPtr placed_ = p_.place_at_root(p_.editor.make_root(), 0);
    const LoopNestPtr tiled_ = p_.tile_at_root(placed_, 0, {1, 4}, {64, 1});
    std::string mismatch_;
};

TEST_F(Matching, CompleteTreesAndTheirParts) {
    const LoopNestPtr root = p_.tree(test::kMatMulInBlock);
    EXPECT_TRUE(matches_text(test::kMatMulInBlock, *root)) << mismatch_;
    EXPECT_TRUE(matches_text(print_schedule(*root, p_.graph, true), *root)) << mismatch_;
    EXPECT_TRUE(matches_text(lines_about(test::kMatMulInBlock, "prod"), *root)) << mismatch_;
    EXPECT_TRUE(matches_text(lines_about(test::kMatMulInBlock, "out"), *root)) << mismatch_;
    EXPECT_TRUE(matches_text("", *root));
    // A tree of which only a part exists yet.
    EXPECT_TRUE(matches_text(test::kMatMulInBlock, *tiled_)) << mismatch_;
}

TEST_F(Matching, DifferentTrees) {
    const LoopNestPtr root = p_.tree(test::kMatMulInBlock);
    EXPECT_FALSE(matches_text(test::kMatMulInThread, *root));
    EXPECT_EQ(mismatch_.substr(0, 11), "Func prod: ");
    EXPECT_FALSE(matches_text(test::kMatMulAtRoot, *root));
    const std::string other = replaced(test::kMatMulInBlock, "out 16c 256c", "out 16c 128c");
    EXPECT_FALSE(matches_text(other, *tiled_));
    EXPECT_EQ(mismatch_,
              "Func out: line 3 'out 16c 128c (0, 0) gpu_block' against 'out 16c 256c (0, 0) "
              "gpu_block'");
    EXPECT_FALSE(matches(parse_schedule(other, "file"), *tiled_, p_.graph, nullptr));
    // Every Func is compared, whatever the order: here only the second one differs.
    EXPECT_FALSE(matches_text(
        replaced(test::kMatMulInBlock, "prod 1024c 1c 4c", "prod 1024c 1c 8c"), *root));
    EXPECT_FALSE(matches_text(
        replaced(test::kMatMulInBlock, "   out 1vc 1c (0, 0) * gpu_simd\n", ""), *root));
}

TEST_F(Matching, UntiledFuncsOnlyNeedTheRoot) {
    EXPECT_TRUE(matches_text(test::kMatMulInBlock, *placed_)) << mismatch_;
    const LoopNestPtr with_prod = p_.place_at_root(tiled_, 1);
    EXPECT_TRUE(matches_text(test::kMatMulAtRoot, *with_prod)) << mismatch_;
    EXPECT_FALSE(matches_text(test::kMatMulInBlock, *with_prod));
    EXPECT_EQ(mismatch_, "Func prod: should not be computed at the root");
    EXPECT_FALSE(matches_text(test::kMatMulAtRoot, *p_.place_at_root(tiled_, 1, 1)));
    EXPECT_EQ(mismatch_, "Func prod: vector dimension 1 instead of 0");
}

// Line by line they are the same, but in other places.
TEST(MatchingPlaces, InTheSameFunc) {
    const test::Pipeline p(test::stencil_graph(256));
    const std::string h = "h 4 (0, 0) t gpu_block\n", thread = " (0, 0) t gpu_thread\n",
                      f = "  f 3 (0, 0) t gpu_serial\n   f 1 (0, 0) * gpu_simd\n";
    const auto lines = [&](const char *func) {
        return std::string("  ") + func + " 1 (0, 0) t gpu_serial\n   " + func +
               " 1 (0, 0) * gpu_simd\n";
    };
    const auto text = [&](const std::string &in_g, const std::string &in_h) {
        return h + " g 66" + thread + in_g + lines("g") + " h 64" + thread + in_h + lines("h");
    };
    const LoopNestPtr in_g = p.tree(text(f, ""));
    const std::string whole = print_schedule(*in_g, p.graph), of_f = lines_about(whole, "f");
    std::string mismatch;
    const auto fits = [&](const std::string &partial) {
        return matches(parse_schedule(partial, "file"), *in_g, p.graph, &mismatch);
    };
    EXPECT_TRUE(fits(whole)) << mismatch;
    EXPECT_TRUE(fits(of_f)) << mismatch;
    const size_t at = whole.find("\n h 64");
    ASSERT_NE(at, std::string::npos) << whole;
    const std::string thread_of_h = whole.substr(at, whole.find('\n', at + 1) + 1 - at);
    const std::string moved = replaced(replaced(whole, of_f, ""), thread_of_h, thread_of_h + of_f);
    EXPECT_FALSE(fits(moved)) << moved;
    EXPECT_NE(mismatch.find("stands in h instead of g"), std::string::npos) << mismatch;
    std::istringstream lines_of_all(moved);
    std::string without_g;
    for (std::string line; std::getline(lines_of_all, line);) {
        without_g += line.find(" g ") == std::string::npos ? line + "\n" : "";
    }
    EXPECT_TRUE(fits(without_g)) << mismatch;
}

// These are never tiled, so what they look like at first is what remains.
TEST(MatchingPlaces, FuncsWithoutDimensions) {
    const test::Pipeline p(test::scalar_reduction_graph());
    const LoopNestPtr root = p.place_at_root(p.place_at_root(p.editor.make_root(), 0), 1);
    const std::string text = lines_about(print_schedule(*root, p.graph), "sum");
    std::string mismatch;
    const auto fits = [&](const std::string &partial) {
        return matches(parse_schedule(partial, "file"), *root, p.graph, &mismatch);
    };
    EXPECT_TRUE(fits(text)) << mismatch;
    EXPECT_FALSE(fits(replaced(text, "sum (-1, 0) t gpu_none", "sum (-1, 0) t gpu_block"))) << text;
    EXPECT_FALSE(fits(replaced(text, "sum (-1", "sum 7 (-1"))) << text;
    EXPECT_EQ(mismatch.substr(0, 10), "Func sum: ");
}

TEST(MatchingInlined, BothOrNone) {
    const test::Pipeline p(test::stencil_graph());
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const LoopNestPtr inlined = p.editor.inline_func(root, 1);
    std::string mismatch;
    const ParsedSchedule one = parse_schedule("inlined: g 7\n", "file");
    EXPECT_TRUE(matches(one, *root, p.graph, &mismatch)) << "g is not there yet";
    EXPECT_TRUE(matches(one, *inlined, p.graph, &mismatch)) << "counts do not matter";
    EXPECT_FALSE(matches(one, *p.place_at_root(root, 1), p.graph, &mismatch));
    EXPECT_EQ(mismatch, "Func g: should be inlined");
    const ParsedSchedule other = parse_schedule("g 32 (0, 0) t gpu_block\n", "file");
    EXPECT_FALSE(matches(other, *inlined, p.graph, &mismatch));
    EXPECT_EQ(mismatch, "Func g: should not be inlined");
}

}  // namespace
}  // namespace anderson2021
