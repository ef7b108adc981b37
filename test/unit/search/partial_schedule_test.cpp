// Searches that have to follow a text: the best schedule fed back gives itself, parts of it
// constrain only those Funcs, and whatever cannot be followed is reported.
#include <gtest/gtest.h>
#include <sstream>

#include "schedule/schedule_text.h"
#include "search_fixture.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using test::run_search;
using test::TemporaryFile;
using test::test_options;

Options following(const TemporaryFile &file) {
    Options options = test_options();
    options.partial_schedule_path = file.path();
    return options;
}

std::string error_of(const PipelineGraph &graph, const Options &options) {
    try {
        run_search(graph, options);
    } catch (const UserError &e) {
        return e.what();
    }
    return "";
}

TEST(PartialSchedule, TheBestScheduleFedBackGivesItself) {
    for (uint32_t seed = 0; seed < 8; seed++) {
        const PipelineGraph graph = test::random_graph(seed);
        Options options = test_options();
        options.beam_size = 4;
        const SearchResult best = run_search(graph, options);
        const TemporaryFile file(print_schedule(*best.best, graph));
        const SearchResult again = run_search(graph, following(file));
        EXPECT_EQ(print_schedule(*again.best, graph), print_schedule(*best.best, graph));
        EXPECT_EQ(again.cost, best.cost);
    }
}

TEST(PartialSchedule, TheReferencesDialectIsAcceptedToo) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test_options();
    options.beam_size = 4;
    const SearchResult best = run_search(graph, options);
    const TemporaryFile file("# from a log\n\n" + print_schedule(*best.best, graph, true));
    const SearchResult again = run_search(graph, following(file));
    EXPECT_EQ(print_schedule(*again.best, graph), print_schedule(*best.best, graph));
}

TEST(PartialSchedule, ScheduleThatTheSearchWouldNotChoose) {
    const PipelineGraph graph = test::mat_mul_graph();
    Options options = test_options();
    options.beam_size = 1;
    options.random_dropout = 0;  // the worst of everything
    const SearchResult odd = run_search(graph, options);
    const TemporaryFile text(print_schedule(*odd.best, graph));
    const SearchResult again = run_search(graph, following(text));
    EXPECT_EQ(print_schedule(*again.best, graph), print_schedule(*odd.best, graph));
    EXPECT_EQ(again.cost, odd.cost);
}

TEST(PartialSchedule, OneFuncAlone) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    const TemporaryFile file("inlined: gray 9\n");
    const SearchResult inlined = run_search(graph, following(file));
    const std::string text = print_schedule(*inlined.best, graph);
    EXPECT_NE(text.find("inlined: gray "), std::string::npos) << text;
    EXPECT_EQ(text.find("realize: gray "), std::string::npos) << text;
}

TEST(PartialSchedule, LevelsOfOneFuncConstrainItOnly) {
    const PipelineGraph graph = test::mat_mul_graph();
    const std::string lines = "out 64c 32c (0, 0) t gpu_block\n out 16c 16c (0, 0) t gpu_thread\n"
                              "  out 1c 2c (0, 0) t gpu_serial\n   out 1vc 1c (0, 0) * gpu_simd\n";
    const TemporaryFile file("realize: out [1024c, 1024c] with 1 stages\n" + lines);
    const std::string text = print_schedule(*run_search(graph, following(file)).best, graph);
    std::istringstream expected(lines);
    for (std::string line; std::getline(expected, line);) {
        EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << " in\n" << text;
    }
    EXPECT_NE(text.find("prod 1024c"), std::string::npos);
}

TEST(PartialSchedule, ChangedSizesAreReportedWithTheClosestCandidate) {
    const PipelineGraph graph = test::mat_mul_graph();
    const SearchResult best = run_search(graph, test_options());
    std::string text = print_schedule(*best.best, graph);
    const size_t at = text.find("out ", text.find("with 1 stages\nout"));
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 4, "out 7");  // 64c becomes 764c
    const TemporaryFile file(text);
    const std::string error = error_of(graph, following(file));
    EXPECT_NE(error.find(file.path()), std::string::npos) << error;
    EXPECT_NE(error.find("Func out"), std::string::npos) << error;
    EXPECT_NE(error.find("against"), std::string::npos) << error;
}

// The pre-pass fuses nothing, but the text does.
TEST(PartialSchedule, GoesWithFreezing) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test_options();
    options.beam_size = 4;
    const SearchResult best = run_search(graph, options);
    const TemporaryFile file(print_schedule(*best.best, graph));
    options = following(file);
    options.freeze_inline_compute_root = 1;
    const SearchResult again = run_search(graph, options);
    EXPECT_EQ(print_schedule(*again.best, graph), print_schedule(*best.best, graph));
    EXPECT_EQ(again.cost, best.cost);
}

TEST(PartialSchedule, AForbiddenMoveIsReported) {
    const PipelineGraph graph = test::mat_mul_graph();
    const TemporaryFile file("inlined: prod 1\n");
    const std::string error = error_of(graph, following(file));
    EXPECT_NE(error.find("Func prod"), std::string::npos) << error;
    EXPECT_NE(error.find("should be inlined"), std::string::npos) << error;
}

TEST(PartialSchedule, UnreadableAndForeignFilesAreErrors) {
    const PipelineGraph graph = test::mat_mul_graph();
    Options options = test_options();
    options.partial_schedule_path = "/nowhere/schedule.txt";
    EXPECT_NE(error_of(graph, options).find("/nowhere/schedule.txt"), std::string::npos);
    const TemporaryFile foreign("inlined: nobody 1\n");
    EXPECT_NE(error_of(graph, following(foreign)).find("nobody"), std::string::npos);
    const TemporaryFile malformed("out 8 (0,\n");
    EXPECT_NE(error_of(graph, following(malformed)).find(malformed.path()), std::string::npos);
}

TEST(PartialSchedule, AScheduleThatBreaksALimitIsReported) {
    const PipelineGraph graph = test::mat_mul_graph();
    Options options = test_options();
    options.search_space_options = "0110";
    const SearchResult best = run_search(graph, options);
    ASSERT_EQ(best.best->children.size(), 1u) << "prod should be in the block of out";
    const TemporaryFile file(print_schedule(*best.best, graph));
    RegionStore store(graph);
    const auto model = test::make_test_cost_model(graph, 80);
    GpuDevice device;
    device.shared_bytes_per_block = 16;
    try {
        search(graph, store, device, following(file), *model);
        FAIL() << "16 bytes are not enough";
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("shared-memory"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace anderson2021
