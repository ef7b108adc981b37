#include <gtest/gtest.h>
#include <set>

#include "graph_fixtures.h"
#include "plugin/schedule_choice.h"
#include "schedule_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

// A run whose searches rank schedules with tiles of 1, 2, 4, ... points, of which some fail.
class Choice : public ::testing::Test {
protected:
    Choice() : pipeline_(test::stencil_graph(256)) {}

    LoopNestPtr tree(int size) const {
        const std::string blocks = std::to_string(256 / size), points = std::to_string(size);
        return pipeline_.tree("\nh " + blocks + " (0, 0) t gpu_block\n h " + points +
                              " (0, 0) t gpu_thread\n  h 1 (0, 0) t gpu_serial\n" +
                              "   h 1 (0, 0) * gpu_simd\n    inlined: g 1\n    inlined: f 3\n");
    }
    SearchResult result(const std::vector<int> &sizes) const {
        SearchResult found;
        for (const int size : sizes) {
            found.top.push_back({tree(size), static_cast<double>(size), {}});
        }
        found.best = found.top.front().tree;
        found.cost = found.top.front().cost;
        found.stats.passes = static_cast<int64_t>(sizes.size());
        return found;
    }
    ChosenSchedule choose(const Options &options) {
        ChoiceSteps steps;
        steps.search = [this](const Options &with) {
            searches_.push_back(with);
            const std::string &space = with.search_space_options;
            return result(space == "0011"   ? std::vector<int>{64}
                          : space == "0001" ? std::vector<int>{128}
                                            : std::vector<int>{2, 4, 8, 16});
        };
        steps.evaluate = [](const LoopNestPtr &chosen) {
            SearchResult evaluated;
            evaluated.best = chosen;
            evaluated.cost = 100;
            return evaluated;
        };
        steps.fault_of = [this](const LoopNest &t, ScheduleTrace &trace) -> std::string {
            const int size = static_cast<int>(t.children[0]->children[0]->size[0]);
            tried_.push_back(size);
            trace.stages.resize(static_cast<size_t>(size));
            return faulty_.count(size) != 0 ? "h has tiles of " + std::to_string(size) : "";
        };
        return choose_schedule(result({2}), options, steps);
    }

    test::Pipeline pipeline_;
    std::set<int> faulty_;
    std::vector<int> tried_;
    std::vector<Options> searches_;
};

TEST_F(Choice, TakesTheBestWithoutASecondSearch) {
    const ChosenSchedule chosen = choose({});
    EXPECT_TRUE(chosen.found.best->same_structure(*tree(2)));
    EXPECT_EQ(chosen.found.cost, 2);
    EXPECT_EQ(chosen.trace.stages.size(), 2u);
    EXPECT_TRUE(searches_.empty());
}

TEST_F(Choice, TakesTheNextBestThatCompiles) {
    faulty_ = {2, 4};
    Options options;
    options.top_k = 2;
    ::testing::internal::CaptureStderr();
    const ChosenSchedule chosen = choose(options);
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("h has tiles of 2"), std::string::npos) << log;
    EXPECT_NE(log.find("h has tiles of 4"), std::string::npos) << log;
    EXPECT_TRUE(chosen.found.best->same_structure(*tree(8)));
    EXPECT_EQ(chosen.found.cost, 100);
    EXPECT_EQ(chosen.found.stats.passes, 4);
    EXPECT_EQ(chosen.trace.stages.size(), 8u);
    // The first one is not tried again; what is ranked starts with what was chosen.
    EXPECT_EQ(tried_, (std::vector<int>{2, 4, 8}));
    ASSERT_EQ(chosen.found.top.size(), 2u);
    EXPECT_TRUE(chosen.found.top[0].tree->same_structure(*tree(8)));
    EXPECT_TRUE(chosen.found.top[1].tree->same_structure(*tree(16)));
    ASSERT_EQ(searches_.size(), 1u);
    EXPECT_GE(searches_[0].top_k, 4);
}

TEST_F(Choice, FusesNothingIfNothingElseCompiles) {
    faulty_ = {2, 4, 8, 16};
    EXPECT_TRUE(choose({}).found.best->same_structure(*tree(64)));
    EXPECT_EQ(searches_.size(), 2u);
}

TEST_F(Choice, InlinesNothingIfNothingElseCompiles) {
    faulty_ = {2, 4, 8, 16, 64};
    EXPECT_TRUE(choose({}).found.best->same_structure(*tree(128)));
    EXPECT_EQ(searches_.size(), 3u);
}

TEST_F(Choice, GivesUpWithTheFirstReason) {
    faulty_ = {2, 4, 8, 16, 64, 128};
    try {
        choose({});
        FAIL() << "no error";
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("None of 6 schedules"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("h has tiles of 2"), std::string::npos) << e.what();
    }
}

TEST_F(Choice, ObeysPartialSchedules) {
    faulty_ = {2, 4, 8, 16};
    Options options;
    options.partial_schedule_path = "wanted.tree";
    EXPECT_THROW(choose(options), UserError);
    EXPECT_EQ(searches_.size(), 1u);
}

}  // namespace
}  // namespace anderson2021
