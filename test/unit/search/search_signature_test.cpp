// Keeps changes of the search from going unnoticed: what it does on some pipelines is compared with
// a file. If a change is meant, run this test with ANDERSON_UPDATE_GOLDENS=1 and look at the
// differences.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

#include "schedule/schedule_text.h"
#include "search/search_report.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

const std::string kFile = std::string(ANDERSON_SOURCE_DIR) + "/test/golden/search_signatures.txt";

std::string describe(const std::string &name, const PipelineGraph &graph, const Options &options) {
    const SearchResult result = test::run_search(graph, options);
    return "## " + name + "\n" + search_signature(result) + print_schedule(*result.best, graph) +
           "\n";
}

std::string describe_all() {
    Options options = test::test_options();
    options.beam_size = 8;
    std::string text = describe("harris", test::harris_graph(512, 256), options) +
                       describe("matrix multiply", test::mat_mul_graph(1024), options) +
                       describe("stencils", test::stencil_graph(), options);
    for (uint32_t seed = 0; seed < 3; seed++) {
        text += describe("random " + std::to_string(seed), test::random_graph(seed), options);
    }
    options.randomize_tilings = 1;
    options.random_dropout = 50;
    return text + describe("sampled harris", test::harris_graph(512, 256), options);
}

TEST(SearchSignature, IsThatOfTheFile) {
    const std::string text = describe_all();
    if (std::getenv("ANDERSON_UPDATE_GOLDENS") != nullptr) {
        std::ofstream(kFile) << text;
    }
    std::ifstream file(kFile);
    ASSERT_TRUE(file) << kFile;
    std::ostringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str());
}

TEST(SearchSignature, DoesNotDependOnThreads) {
    Options options = test::test_options();
    options.threads = 1;
    const PipelineGraph graph = test::harris_graph(512, 256);
    const std::string one = search_signature(test::run_search(graph, options));
    options.threads = 4;
    EXPECT_EQ(one, search_signature(test::run_search(graph, options)));
}

// Funcs computed somewhere below the root.
size_t num_fused(const SearchResult &result) {
    return result.best->store_set_with_descendants().size() - result.best->store_set().size();
}

// Small pipelines for which a search that does not fuse anything would be broken.
TEST(SearchSignature, SearchesFuse) {
    int num_fusing = 0;
    for (uint32_t seed = 0; seed < 8; seed++) {
        Options options = test::test_options();
        options.search_space_options = "1101";  // without inlining
        num_fusing += num_fused(test::run_search(test::stencil_graph(), options, seed)) > 0 ? 1 : 0;
    }
    EXPECT_GE(num_fusing, 4);
}

}  // namespace
}  // namespace anderson2021
