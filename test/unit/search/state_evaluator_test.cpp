#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "schedule_fixtures.h"
#include "search/state_evaluator.h"
#include "search_fixture.h"

namespace anderson2021 {
namespace {

using test::SearchHarness;

EvaluationRequest request(LoopNestPtr tree) {
    return {std::move(tree), std::make_shared<const BitSet>(16)};
}

class StateEvaluatorTest : public ::testing::Test {
protected:
    StateEvaluatorTest() : h_(test::mat_mul_graph(1024)), p_(test::mat_mul_graph(1024)) {}

    SearchHarness h_;
    // Makes trees; the graph is equal to that of the harness.
    test::Pipeline p_;
};

TEST_F(StateEvaluatorTest, CostsAreSumsOverStagesInRecordOrder) {
    const Evaluation e = h_.evaluator.evaluate({request(p_.tree(test::kMatMulInBlock))})[0];
    ASSERT_TRUE(e.accepted());
    ASSERT_EQ(e.costs->per_stage.size(), 3u);
    double sum = 0;
    for (const float c : e.costs->per_stage) {
        EXPECT_TRUE(std::isfinite(c));
        sum += static_cast<double>(c);
    }
    EXPECT_EQ(e.costs->total, sum);
    // Output and one block of prod.
    EXPECT_EQ(e.costs->root_working_set, 4195328);
}

TEST_F(StateEvaluatorTest, TheSameTreeIsEvaluatedOnce) {
    const std::vector<Evaluation> both = h_.evaluator.evaluate(
        {request(p_.tree(test::kMatMulInBlock)), request(p_.tree(test::kMatMulInBlock))});
    EXPECT_EQ(both[0].costs, both[1].costs);
    EXPECT_EQ(h_.evaluator.num_evaluated(), 1);
    h_.evaluator.evaluate({request(p_.tree(test::kMatMulInBlock))});
    EXPECT_EQ(h_.evaluator.num_evaluated(), 1);
    h_.evaluator.trim(0);
    h_.evaluator.evaluate({request(p_.tree(test::kMatMulInBlock))});
    EXPECT_EQ(h_.evaluator.num_evaluated(), 2);
}

TEST_F(StateEvaluatorTest, BatchesAndFreshEvaluationsAgree) {
    const std::vector<EvaluationRequest> requests = {request(p_.tree(test::kMatMulAtRoot)),
                                                     request(p_.tree(test::kMatMulInThread)),
                                                     request(p_.tree(test::kMatMulInBlock))};
    const std::vector<Evaluation> batch = h_.evaluator.evaluate(requests);
    for (size_t i = 0; i < requests.size(); i++) {
        const Evaluation fresh = h_.evaluator.evaluate_afresh(requests[i]);
        ASSERT_TRUE(batch[i].accepted() && fresh.accepted());
        EXPECT_EQ(batch[i].costs->per_stage, fresh.costs->per_stage);
        EXPECT_EQ(batch[i].costs->total, fresh.costs->total);
    }
}

TEST_F(StateEvaluatorTest, RejectionsNameTheRuleAndAreCounted) {
    // 2048 threads per block.
    const LoopNestPtr root =
        p_.tile_at_root(p_.place_at_root(p_.editor.make_root(), 0), 0, {1, 1}, {64, 32});
    const Evaluation e = h_.evaluator.evaluate({request(root)})[0];
    EXPECT_FALSE(e.accepted());
    ASSERT_TRUE(e.rejection);
    EXPECT_STREQ(e.rejection->rule, "thread-extents");
    EXPECT_EQ(h_.evaluator.take_rejections().lines().at(0).count, 1);
    EXPECT_TRUE(h_.evaluator.take_rejections().empty());
}

// Returns what it is told to for the first stage.
class BrokenModel : public CostModel {
public:
    explicit BrokenModel(float cost) : cost_(cost) {}
    void begin(const AlgorithmInputs &) override {}
    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        std::vector<float> costs;
        for (const StageRow &row : rows) {
            costs.push_back(row.position == 0 ? cost_ : 1.0f);
        }
        return costs;
    }

private:
    float cost_;
};

TEST_F(StateEvaluatorTest, CostsThatAreNoNumbersReject) {
    for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
        BrokenModel model(bad);
        const PruneContext prune{h_.graph, h_.device};
        StateEvaluator evaluator(h_.featurizer, model, prune, h_.pool);
        const Evaluation e = evaluator.evaluate({request(p_.tree(test::kMatMulAtRoot))})[0];
        EXPECT_FALSE(e.accepted());
        EXPECT_STREQ(e.rejection->rule, "non-finite-cost");
    }
}

}  // namespace
}  // namespace anderson2021
