#include <gtest/gtest.h>

#include "graph_fixtures.h"
#include "schedule/func_region.h"

namespace anderson2021 {
namespace {

using test::at;
using test::divided;
using test::scaled;

Span footprint_of(const PipelineGraph &graph, int edge, const std::vector<Span> &loops) {
    Span required = Span::empty();
    expand_footprint(graph.edge(edge), loops.data(), &required);
    return required;
}

PipelineGraph reader(const test::Coord &coord) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({16}).reads("f", {coord});
    b.func("f", {"x"});
    return b.build();
}

TEST(FuncRegion, HistogramComputesMoreThanRequired) {
    const PipelineGraph graph = test::histogram_graph();
    FuncRegion region(graph.func(1));
    region.required(0) = {10, 20, true, true};
    region.derive_from_required();
    EXPECT_EQ(region.computed(0), (Span{0, 255, false, false}));
    EXPECT_EQ(region.loop(0, 0), (Span{0, 255, false, false}));
    EXPECT_EQ(region.loop(1, 0), (Span{0, 255, true, true}));
    EXPECT_EQ(region.loop(1, 1), (Span{0, 255, true, true}));
    EXPECT_EQ(region.points_required(), 11);
    EXPECT_EQ(region.points_computed(), 256);
    EXPECT_EQ(region.bytes_computed(), 1024);
    // What is required beyond that is computed as well.
    region.required(0) = {-5, 300, true, true};
    region.derive_from_required();
    EXPECT_EQ(region.computed(0), (Span{-5, 300, false, false}));
}

TEST(FuncRegion, UpdateLoopsFollowComputedRegion) {
    const PipelineGraph graph = test::mat_mul_graph(64);
    FuncRegion region(graph.func(1));
    region.required(0) = {8, 15, true, true};
    region.required(1) = {3, 3, false, false};
    region.derive_from_required();
    EXPECT_EQ(region.loop(1, 0), (Span{0, 63, true, true}));
    EXPECT_EQ(region.loop(1, 1), (Span{8, 15, true, true}));
    EXPECT_EQ(region.loop(1, 2), (Span{3, 3, false, false}));
}

TEST(FuncRegion, ScalarHasOnePoint) {
    const PipelineGraph graph = test::scalar_reduction_graph();
    FuncRegion region(graph.func(1));
    region.derive_from_required();
    EXPECT_EQ(region.points_computed(), 1);
    EXPECT_EQ(region.bytes_computed(), 4);
    EXPECT_EQ(region.loop(1, 0).extent(), 100);
}

TEST(ExpandFootprint, AffineKeepsFlags) {
    const PipelineGraph graph = reader(at("x", -1, 1));
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, true, true}}), (Span{3, 8, true, true}));
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, false, true}}), (Span{3, 8, false, true}));
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, true, false}}), (Span{3, 8, true, false}));
}

TEST(ExpandFootprint, NegativeCoefficientSwapsEnds) {
    const PipelineGraph graph = reader(scaled("x", -2));
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, true, true}}), (Span{-14, -8, true, true}));
}

TEST(ExpandFootprint, OtherShapesAreNeverConstant) {
    const PipelineGraph graph = reader(divided("x", 2));
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, true, true}}), (Span{2, 3, false, false}));
    EXPECT_EQ(footprint_of(graph, 0, {{-5, -5, true, true}}), (Span{-3, -3, false, false}));
}

TEST(ExpandFootprint, ConstantsAreConstantWhateverTheLoops) {
    const PipelineGraph graph = reader(test::constant(2, 9));
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, false, false}}), (Span{2, 9, true, true}));
}

TEST(ExpandFootprint, EstimatesAreConstantButNotExact) {
    PipelineGraph graph = reader(test::constant(2, 9));
    graph.edges[0].bounds[0].max.exact = false;
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, true, true}}), (Span{2, 9, true, false}));
}

TEST(ExpandFootprint, EndsThatMoveApartAreNotExact) {
    PipelineGraph graph = reader(at("x"));
    graph.edges[0].bounds[0].max = BoundExpr::affine(0, true, 2, 0);
    EXPECT_EQ(footprint_of(graph, 0, {{4, 7, true, true}}), (Span{4, 14, true, false}));
}

TEST(ExpandFootprint, ExtendsWhatIsThere) {
    const PipelineGraph graph = reader(at("x"));
    Span required{20, 30, true, false};
    const Span loop{4, 7, true, true};
    expand_footprint(graph.edge(0), &loop, &required);
    EXPECT_EQ(required, (Span{4, 30, true, false}));
}

}  // namespace
}  // namespace anderson2021
