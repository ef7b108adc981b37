#include <gtest/gtest.h>
#include <sstream>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "search/search_report.h"

namespace anderson2021 {
namespace {

TEST(SearchReport, StatisticsHaveTheirLabelsInOrder) {
    SearchStats stats;
    stats.states_added = 1455;
    stats.featurizations = 4;
    stats.featurization_ms = 10.9;
    stats.total_s = 0.25;
    const std::vector<std::string> labels = {"Number of states added",
                                             "Number of featurizations computed",
                                             "Number of memoization hits",
                                             "Number of memoization misses",
                                             "Number of block memoization hits",
                                             "Number of block memoization misses",
                                             "Total featurization time (ms)",
                                             "Average featurization time (ms)",
                                             "Total enqueue time (ms)",
                                             "Total calculate cost time (ms)",
                                             "Total feature write time (ms)",
                                             "Total generate children time (ms)",
                                             "Total compute in tiles time (ms)",
                                             "Total filter thread tiles time (ms)",
                                             "Total filter parallel tiles time (ms)",
                                             "Number of schedules evaluated by cost model",
                                             "Number of tilings generated",
                                             "Number of tilings accepted",
                                             "Total cost model evaluation time (ms)",
                                             "Average cost model evaluation time (ms)",
                                             "Time taken for autoscheduler (s)"};
    const std::string text = print_statistics(stats);
    std::istringstream lines(text);
    std::string line;
    for (const std::string &label : labels) {
        ASSERT_TRUE(std::getline(lines, line)) << label;
        EXPECT_EQ(line.substr(0, line.find(": ")), label);
    }
    EXPECT_FALSE(std::getline(lines, line));
    EXPECT_NE(text.find("states added: 1455\n"), std::string::npos);
    // Cut to whole milliseconds before the average is taken.
    EXPECT_NE(text.find("Total featurization time (ms): 10\n"), std::string::npos);
    EXPECT_NE(text.find("Average featurization time (ms): 2.5\n"), std::string::npos);
    EXPECT_NE(text.find("autoscheduler (s): 0.25\n"), std::string::npos);
}

TEST(SearchReport, AveragesOfNothingAreZero) {
    EXPECT_NE(print_statistics({}).find("Average featurization time (ms): 0\n"), std::string::npos);
}

TEST(SearchReport, PassResultShowsCostAndTree) {
    const test::Pipeline p(test::stencil_graph(64));
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    const std::string text = print_pass_result(3, 0.5, *root, p.graph);
    EXPECT_EQ(text.find("Pass 3 result: State with cost 0.5:\n gpu_none\n"), 0u);
    EXPECT_NE(text.find("\nh 64c (0, 0) t gpu_none\n"), std::string::npos);
}

TEST(SearchReport, SearchSpaceHasFiveLines) {
    Options options;
    options.search_space_options = "1000";
    EXPECT_EQ(print_search_space(options),
              "Search space options:\n  compute root: 1\n  inline: 0\n"
              "  compute at block: 0\n  compute at thread: 1");
}

}  // namespace
}  // namespace anderson2021
