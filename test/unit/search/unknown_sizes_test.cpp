// The search never chooses a schedule that lowering would have to change.
#include <gtest/gtest.h>

#include "schedule/unknown_sizes.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

/// Chain of stencils over `bytes` per point whose distances are parameters, estimated at 2.
PipelineGraph parametric_chain(int64_t bytes) {
    test::GraphBuilder b;
    b.func("h", {"x", "y"}).output({512, 512}).reads("g", {test::at("x", 0, 2), test::at("y")}, 3);
    b.func("g", {"x", "y"}).bytes_per_point(bytes);
    b.reads("f", {test::at("x"), test::at("y", 0, 2)}, 3);
    b.func("f", {"x", "y"}).bytes_per_point(bytes);
    PipelineGraph graph = b.build();
    for (Edge &edge : graph.edges) {
        for (EdgeBound &bound : edge.bounds) {
            bound.max.exact = false;
        }
    }
    return graph;
}

int num_misplaced(const LoopNest &root, const PipelineGraph &graph) {
    const BitSet following = find_funcs_following_outputs(graph);
    size_t count = 0;
    for (const LoopNestPtr &task : root.children) {
        count += find_misplaced_funcs(*task, graph, GpuDevice(), following).size();
    }
    return static_cast<int>(count);
}

TEST(SearchUnknownSizes, FuncsStayWhereTheyAreComputed) {
    Options options = test::test_options();
    options.search_space_options = "1101";  // without inlining
    int num_fused = 0;
    int64_t num_rejected = 0;
    for (uint32_t seed = 0; seed < 8; seed++) {
        const PipelineGraph graph = parametric_chain(seed % 2 == 0 ? 4 : 16);
        const SearchResult result = test::run_search(graph, options, seed);
        EXPECT_EQ(num_misplaced(*result.best, graph), 0) << "seed " << seed;
        num_fused +=
            result.best->store_set_with_descendants().size() > result.best->store_set().size() ? 1
                                                                                               : 0;
        for (const RejectionTally::Line &line : result.stats.rejections_by_rule.lines()) {
            num_rejected += std::string(line.example.rule) == "unknown-sizes" ? line.count : 0;
        }
    }
    // What fits is still computed in blocks.
    EXPECT_GT(num_fused, 0);
    EXPECT_GT(num_rejected, 0);
}

}  // namespace
}  // namespace anderson2021
