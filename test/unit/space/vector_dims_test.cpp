#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule_fixtures.h"
#include "space/vector_dims.h"

namespace anderson2021 {
namespace {

using Dims = std::vector<int>;

// out(x, y, z) over `extents` reads g at the same coordinates.
PipelineGraph copy(const std::vector<int64_t> &extents) {
    test::GraphBuilder b;
    b.func("out", {"x", "y", "z"}).output(extents);
    b.reads("g", {test::at("x"), test::at("y"), test::at("z")});
    b.func("g", {"x", "y", "z"});
    return b.build();
}

Dims dims_of(const std::vector<int64_t> &extents, int func, bool all) {
    const test::Pipeline p(copy(extents));
    return candidate_vector_dims(*p.store.root(), p.graph.func(func), all);
}

TEST(VectorDims, FirstOneThatFillsHalfAWarp) {
    EXPECT_EQ(dims_of({64, 64, 64}, 1, false), (Dims{0}));
    EXPECT_EQ(dims_of({15, 16, 64}, 1, false), (Dims{1}));
    EXPECT_EQ(dims_of({3, 15, 100}, 1, false), (Dims{2}));
    EXPECT_EQ(dims_of({3, 3, 3}, 1, false), (Dims{0}));
}

TEST(VectorDims, AllThatFillHalfAWarp) {
    EXPECT_EQ(dims_of({64, 3, 64}, 1, true), (Dims{0, 2}));
    EXPECT_EQ(dims_of({3, 3, 3}, 1, true), (Dims{0}));
}

TEST(VectorDims, OutputsKeepTheirLayout) {
    EXPECT_EQ(dims_of({3, 64, 64}, 0, false), (Dims{0}));
    EXPECT_EQ(dims_of({3, 64, 64}, 0, true), (Dims{0}));
}

TEST(VectorDims, WithoutDimensions) {
    const test::Pipeline p(test::scalar_reduction_graph());
    EXPECT_EQ(candidate_vector_dims(*p.store.root(), p.graph.func(1), false), (Dims{0}));
}

}  // namespace
}  // namespace anderson2021
