#include <gtest/gtest.h>

#include "featurizer/access_plan.h"
#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

AccessJacobian matrix(int rows, int cols, const std::vector<Rational> &entries, int64_t count = 1) {
    return AccessJacobian(rows, cols, entries, count);
}

std::vector<InlinedCall> inlined(const PipelineGraph &graph,
                                 const std::vector<std::string> &funcs) {
    std::vector<InlinedCall> calls;
    for (const std::string &f : funcs) {
        calls.push_back({graph.find_func(f), 1});
    }
    return calls;
}

TEST(AccessPlan, DirectReadsInOrderOfProducerNames) {
    const PipelineGraph graph = mat_mul_graph();
    const AccessPlan plan = make_access_plan(graph, 2, {});
    ASSERT_EQ(plan.visits.size(), 2u);
    EXPECT_EQ(graph.func(plan.visits[0].producer).name, "A_im");
    EXPECT_EQ(graph.func(plan.visits[1].producer).name, "B_im");
    for (const ProducerVisit &v : plan.visits) {
        EXPECT_TRUE(v.first);
        EXPECT_EQ(plan.steps[static_cast<size_t>(v.step)].before, -1);
        ASSERT_EQ(v.accesses.size(), 1u);
        EXPECT_EQ(v.accesses[0].repeats, 1);
    }
    // Loops r, x, y: A(x, r) does not depend on y, B(r, y) not on x.
    const auto matrix_of = [&](int visit) -> const PlannedMatrix & {
        return plan.matrices[static_cast<size_t>(
            plan.visits[static_cast<size_t>(visit)].accesses[0].matrix)];
    };
    EXPECT_EQ(matrix_of(0).invariant_loops(), uint64_t{0b100});
    EXPECT_EQ(matrix_of(1).invariant_loops(), uint64_t{0b010});
    EXPECT_EQ(plan.branching, 2);
}

// Along every further path to an inlined Func all matrices found before are accounted again, and
// what is behind it is multiplied out again.
TEST(AccessPlan, CountsMatricesOncePerPath) {
    const PipelineGraph graph = harris_graph();
    const AccessPlan plan = make_access_plan(
        graph, 0, inlined(graph, {"trace", "det", "Syy", "Iyy", "Sxy", "Ixy", "Sxx", "Ixx"}));
    std::vector<std::pair<std::string, int64_t>> found;
    for (const ProducerVisit &v : plan.visits) {
        int64_t repeats = 0;
        for (const PlannedAccess &a : v.accesses) {
            repeats += a.repeats;
        }
        found.emplace_back(graph.func(v.producer).name, repeats);
    }
    const std::vector<std::pair<std::string, int64_t>> expected{
        {"Iy", 1}, {"Ix", 1}, {"Iy", 4}, {"Ix", 2}, {"Iy", 5}, {"Ix", 5}};
    EXPECT_EQ(found, expected);
    EXPECT_TRUE(plan.visits[0].first);
    EXPECT_TRUE(plan.visits[1].first);
    EXPECT_FALSE(plan.visits[2].first);
    // output <- trace <- Syy <- Iyy <- Iy, and nine accesses in Syy.
    std::vector<std::string> path;
    for (int s = plan.visits[0].step; s >= 0; s = plan.steps[static_cast<size_t>(s)].before) {
        path.push_back(
            graph.func(graph.edge(plan.steps[static_cast<size_t>(s)].edge).producer).name);
    }
    EXPECT_EQ(path, (std::vector<std::string>{"Iy", "Iyy", "Syy", "trace"}));
    EXPECT_EQ(
        plan.matrices[static_cast<size_t>(plan.visits[0].accesses[0].matrix)].jacobian().count(),
        9);
}

TEST(AccessPlan, BranchingCountsInlinedFuncs) {
    const PipelineGraph graph = stencil_graph();
    const int apart = make_access_plan(graph, 0, {}).branching;
    const int together = make_access_plan(graph, 0, inlined(graph, {"g", "f"})).branching;
    EXPECT_EQ(apart, expression_branching(graph.branching, 0, [](int) { return false; }));
    EXPECT_EQ(together, expression_branching(graph.branching, 0, [](int) { return true; }));
    // A call with two coordinates needs two values, the sum of two calls three, a sum of two such
    // sums four.
    const PipelineGraph harris = harris_graph();
    EXPECT_EQ(make_access_plan(harris, 0, {}).branching, 3);
    EXPECT_EQ(make_access_plan(harris, 0, inlined(harris, {"det", "trace"})).branching, 4);
}

TEST(AccessPlans, ServeEqualLeavesFromMemory) {
    const FeaturizerFixture fixture(harris_graph());
    AccessPlans plans(fixture.graph());
    const LoopNestEditor &editor = fixture.editor();
    const LoopNestPtr out = editor.make_root();
    const LoopNestPtr placed = editor.with_children(*out, editor.place(0, 0, *out, false));
    const auto leaf = [](const LoopNestPtr &root) { return root->children[0]->children[0]; };
    const LoopNestPtr ab = editor.inline_func(editor.inline_func(placed, 1), 2);
    const LoopNestPtr ba = editor.inline_func(editor.inline_func(placed, 2), 1);
    EXPECT_EQ(plans.of_leaf(*leaf(ab)), plans.of_leaf(*leaf(ba)));
    EXPECT_NE(plans.of_leaf(*leaf(placed)), plans.of_leaf(*leaf(ba)));
    // Untiled and tiled leaves of a stage read the same.
    EXPECT_EQ(plans.of_leaf(*leaf(placed)),
              plans.of_leaf(*editor.place(0, 1, *out, false)[0]->children[0]));
}

bool same_numbers(const AccessJacobian &a, const AccessJacobian &b) {
    bool same = a.rows() == b.rows() && a.cols() == b.cols();
    for (int r = 0; same && r < a.rows(); r++) {
        for (int c = 0; same && c < a.cols(); c++) {
            same = a.at(r, c).n == b.at(r, c).n && a.at(r, c).d == b.at(r, c).d;
        }
    }
    return same;
}

// Scaling a product must give what the product of scaled factors gives, to the last bit.
TEST(PlannedMatrix, ScalesLikeTheConsumersOwnAccess) {
    const std::vector<Rational> values{
        {0, 1}, {1, 1}, {2, 1}, {-1, 1}, {1, 2}, {1, 3}, {2, 3}, {0, 0}};
    const std::vector<int64_t> factors{3, 4};
    uint64_t state = 1;
    // Every other matrix has whole numbers only.
    const auto draw = [&](size_t num_values) {
        std::vector<Rational> entries;
        for (int i = 0; i < 4; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            entries.push_back(values[(state >> 33) % num_values]);
        }
        return matrix(2, 2, entries);
    };
    int commuting = 0;
    int other = 0;
    for (int i = 0; i < 2000; i++) {
        const AccessJacobian own = draw(i % 2 == 0 ? 4 : values.size());
        const AccessJacobian middle = draw(i % 2 == 0 ? 4 : values.size());
        const AccessJacobian last = draw(i % 2 == 0 ? 4 : values.size());
        const PlannedMatrix planned(PlannedMatrix(PlannedMatrix(own), middle), last);
        const AccessJacobian expected = last * (middle * own.scaled(factors));
        EXPECT_TRUE(same_numbers(planned.scaled(factors), expected));
        if (planned.scaling_commutes()) {
            commuting++;
            EXPECT_TRUE(same_numbers(planned.jacobian().scaled(factors), expected));
        } else {
            other++;
        }
    }
    EXPECT_GT(commuting, 50);
    EXPECT_GT(other, 50);
}

TEST(PlannedMatrix, FindsInvariantLoops) {
    EXPECT_EQ(PlannedMatrix(matrix(2, 2, {{0, 1}, {1, 1}, {0, 1}, {0, 1}})).invariant_loops(),
              uint64_t{0b01});
    EXPECT_EQ(PlannedMatrix(matrix(1, 2, {{0, 0}, {1, 2}})).invariant_loops(), uint64_t{0});
    // A Func without dimensions depends on nothing.
    EXPECT_EQ(PlannedMatrix(matrix(0, 2, {})).invariant_loops(), ~uint64_t{0});
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
