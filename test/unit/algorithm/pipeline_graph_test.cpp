#include <gtest/gtest.h>

#include "algorithm/algorithm_features.h"
#include "algorithm/graph_dump.h"
#include "algorithm/pipeline_graph.h"
#include "graph_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

TEST(PipelineGraph, NumbersStagesAndOrdersRecords) {
    const PipelineGraph g = test::mat_mul_graph();
    ASSERT_EQ(g.num_funcs(), 4);
    EXPECT_EQ(g.num_stages(), 5);
    EXPECT_EQ(g.num_non_input_funcs(), 2);
    EXPECT_EQ(g.stage(0).name, "out");
    EXPECT_EQ(g.stage(2).name, "prod.update(0)");
    EXPECT_EQ(g.stage(2).func, 1);
    EXPECT_EQ(g.record_order(), (std::vector<int>{0, 2, 1}));
    EXPECT_EQ(g.find_func("B_im"), 2);
    EXPECT_EQ(g.find_func("nobody"), -1);
}

TEST(PipelineGraph, SortsIncomingEdgesByProducerName) {
    const PipelineGraph g = test::mat_mul_graph();
    const std::vector<int> &incoming = g.stage(2).incoming_edges;
    ASSERT_EQ(incoming.size(), 2u);
    EXPECT_EQ(g.func(g.edge(incoming[0]).producer).name, "A_im");
    EXPECT_EQ(g.func(g.edge(incoming[1]).producer).name, "B_im");
    EXPECT_EQ(g.edge(incoming[0]).consumer_stage, 2);
    EXPECT_EQ(g.edge(incoming[0]).consumer_func, 1);
}

TEST(PipelineGraph, KnowsWhatIsUpstream) {
    const PipelineGraph g = test::mat_mul_graph();
    const BitSet &of_out = g.stage(0).upstream;
    EXPECT_TRUE(of_out.contains(1));
    EXPECT_TRUE(of_out.contains(2));
    EXPECT_TRUE(of_out.contains(3));
    EXPECT_FALSE(of_out.contains(0));
    EXPECT_FALSE(g.stage(2).upstream.contains(1));
    EXPECT_TRUE(g.stage(1).upstream.empty());
    EXPECT_TRUE(g.stage(2).reads_input);
    EXPECT_FALSE(g.stage(1).reads_input);
    EXPECT_FALSE(g.stage(0).reads_input);
}

TEST(PipelineGraph, ReadingAConcreteImageCountsAsReadingInput) {
    PipelineGraph g = test::stencil_graph();
    EXPECT_FALSE(g.stage(2).reads_input);
    g.funcs[2].stages[0].features[op_index(OpClass::ImageCall, ScalarClass::UInt8)] = 1;
    g.finish();
    EXPECT_TRUE(g.stage(2).reads_input);
}

TEST(PipelineGraph, LaysSpansOutInOneArray) {
    const PipelineGraph g = test::mat_mul_graph();
    const FuncNode &prod = g.func(1);
    EXPECT_EQ(prod.computed_offset, 2);
    EXPECT_EQ(prod.loops_offset, (std::vector<int>{4, 6}));
    EXPECT_EQ(prod.num_spans, 9);
}

TEST(PipelineGraph, RefusesEdgesAgainstTheOrder) {
    PipelineGraph backwards = test::stencil_graph();
    backwards.edges[0].producer = 0;
    EXPECT_THROW(backwards.finish(), InternalError);
    PipelineGraph dangling = test::stencil_graph();
    dangling.edges[0].producer = 17;
    EXPECT_THROW(dangling.finish(), InternalError);
}

TEST(AlgorithmFeatures, LayoutIsTheOneThatIsStored) {
    EXPECT_EQ(kAlgorithmFeatureCount, 287u);
    EXPECT_EQ(type_in_use_index(ScalarClass::Double), 6u);
    EXPECT_EQ(op_index(OpClass::Const, ScalarClass::Bool), 7u);
    EXPECT_EQ(op_index(OpClass::Variable, ScalarClass::UInt32), 24u);
    EXPECT_EQ(op_index(OpClass::ImageCall, ScalarClass::Bool), 140u);
    EXPECT_EQ(op_index(OpClass::Let, ScalarClass::Double), 174u);
    EXPECT_EQ(access_index(AccessPattern::Pointwise, AccessKind::LoadFunc, ScalarClass::Bool),
              175u);
    EXPECT_EQ(access_index(AccessPattern::Transpose, AccessKind::Store, ScalarClass::Float), 229u);
    EXPECT_EQ(access_index(AccessPattern::Slice, AccessKind::Store, ScalarClass::Double), 286u);
}

bool has_lines(const std::string &text, const std::string &lines) {
    return text.find(lines) != std::string::npos;
}

TEST(GraphDump, PrintsFuncsEdgesAndMatrices) {
    const std::string text = graph_dump(test::mat_mul_graph());
    EXPECT_TRUE(has_lines(text,
                          "Node: prod\n"
                          "  Symbolic region required: \n"
                          "    prod.x.min, prod.x.max\n"
                          "    prod.y.min, prod.y.max\n"))
        << text;
    EXPECT_TRUE(has_lines(text,
                          "  Stage 1:\n"
                          "    r 0 1023\n"
                          "    x prod.x.min prod.x.max\n"
                          "    y prod.y.min prod.y.max\n"))
        << text;
    EXPECT_TRUE(has_lines(text,
                          "Edge: A_im -> prod.update(0)\n"
                          "  Footprint: \n"
                          "    Min 0: prod.x.min\n"
                          "    Max 0: prod.x.max\n"
                          "    Min 1: prod.r.min\n"
                          "    Max 1: prod.r.max\n"
                          "  Load Jacobians:\n"
                          "    [ 0   1   0  ]\n"
                          "    [ 1   0   0  ]\n"))
        << text;
}

TEST(GraphDump, PrintsUnknownAndFractionalEntriesAndCounts) {
    PipelineGraph g = test::stencil_graph();
    g.edges[0].load_jacobians = {AccessJacobian(1, 3, {{1, 2}, {0, 0}, {-3, 1}}, 4)};
    EXPECT_TRUE(has_lines(graph_dump(g), "  4 x\n    [1/2  _   -3  ]\n")) << graph_dump(g);
}

TEST(GraphDump, PrintsRegionsThatDifferFromWhatIsRequired) {
    const std::string text = graph_dump(test::histogram_graph());
    EXPECT_TRUE(has_lines(text, "    min(hist.i.min, 0), max(hist.i.max, 255)\n")) << text;
}

}  // namespace
}  // namespace anderson2021
