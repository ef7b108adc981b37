// Searches that end in an error: what the message says.
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "search/search.h"
#include "search_fixture.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using test::run_search;
using test::test_options;

// The message of the UserError that a search ends with.
std::string error_of(const PipelineGraph &graph, const Options &options) {
    try {
        run_search(graph, options);
    } catch (const UserError &e) {
        return e.what();
    }
    return "";
}

TEST(SearchErrors, NamesTheFuncThatNoMoveIsLeftFor) {
    Options options = test_options();
    options.search_space_options = "0000";
    const std::string none = error_of(test::stencil_graph(), options);
    EXPECT_NE(none.find("Func g"), std::string::npos) << none;
    EXPECT_NE(none.find("search_space_options=0000"), std::string::npos) << none;
    // Two stages cannot be inlined.
    options.search_space_options = "0010";
    const std::string inlining = error_of(test::mat_mul_graph(64), options);
    EXPECT_NE(inlining.find("Func prod"), std::string::npos) << inlining;
}

class FailingModel : public CostModel {
public:
    void begin(const AlgorithmInputs &) override {}
    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        return std::vector<float>(rows.size(), std::nanf(""));
    }
};

TEST(SearchErrors, SaysWhichRulesLeftNothing) {
    const PipelineGraph graph = test::stencil_graph();
    RegionStore store(graph);
    FailingModel model;
    try {
        search(graph, store, GpuDevice(), test_options(), model);
        FAIL() << "A schedule without cost";
    } catch (const UserError &e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("Func h"), std::string::npos) << text;
        EXPECT_NE(text.find("non-finite-cost"), std::string::npos) << text;
    }
}

TEST(SearchErrors, ValuesOutOfRangeAreNamed) {
    const PipelineGraph graph = test::stencil_graph(64);
    const auto expect_named = [&](const char *name, const Options &options) {
        const std::string text = error_of(graph, options);
        EXPECT_NE(text.find(std::string("autoscheduler.") + name), std::string::npos) << text;
    };
    Options options = test_options();
    options.beam_size = 0;
    expect_named("beam_size", options);
    options = test_options();
    options.parallelism = 0;
    expect_named("parallelism", options);
    options = test_options();
    options.num_passes = -1;
    expect_named("num_passes", options);
    options = test_options();
    options.random_dropout = -1;
    expect_named("random_dropout", options);
    options = test_options();
    options.search_space_options = "1112";
    expect_named("search_space_options", options);
}

}  // namespace
}  // namespace anderson2021
