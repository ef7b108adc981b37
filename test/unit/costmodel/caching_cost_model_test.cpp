#include <cstring>
#include <gtest/gtest.h>
#include <stdexcept>

#include "costmodel/aot_cost_model.h"
#include "costmodel/caching_cost_model.h"
#include "synthetic.h"

namespace anderson2021 {
namespace {

using namespace test;

// Counts what reaches it, and fails on demand.
class Counting : public CostModel {
public:
    struct Record {
        size_t rows = 0;
        size_t begins = 0;
        bool fail = false;
    };
    explicit Counting(Record &record)
        : record_(record), model_(make_aot_cost_model(drawn_weights())) {}

    void begin(const AlgorithmInputs &inputs) override {
        record_.begins++;
        model_->begin(inputs);
    }
    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        if (record_.fail) {
            throw std::runtime_error("on demand");
        }
        record_.rows += rows.size();
        return model_->predict(rows);
    }

private:
    Record &record_;
    std::unique_ptr<CostModel> model_;
};

class CachingModel : public testing::Test {
protected:
    Counting::Record record_;
    std::unique_ptr<CostModel> uncached_ = make_aot_cost_model(drawn_weights());

    std::unique_ptr<CachingCostModel> make(size_t capacity) {
        auto cache = make_caching_cost_model(std::make_unique<Counting>(record_), capacity);
        cache->begin(synthetic_pipeline());
        uncached_->begin(synthetic_pipeline());
        return cache;
    }
    void expect_right(CostModel &cache, const std::vector<StageRow> &rows) {
        const std::vector<float> got = cache.predict(rows), expected = uncached_->predict(rows);
        ASSERT_EQ(got.size(), expected.size());
        EXPECT_TRUE(rows.empty() ||
                    memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
    }
};

TEST_F(CachingModel, KnownRowsAreNotPredictedAgain) {
    const auto cache = make(1000);
    const auto rows = random_rows(1, 100, kSyntheticStages);
    expect_right(*cache, rows);
    EXPECT_EQ(record_.rows, 100u);
    expect_right(*cache, rows);
    EXPECT_EQ(record_.rows, 100u);
    EXPECT_EQ(cache->statistics().rows, 200u);
    EXPECT_EQ(cache->statistics().hits, 100u);
    expect_right(*cache, {});
}

TEST_F(CachingModel, RepeatedRowsOfOneCallArePredictedOnce) {
    const auto cache = make(1000);
    const auto row = synthetic_row(1, 1), other = synthetic_row(2, 1);
    expect_right(*cache, {row, other, row, row, other});
    EXPECT_EQ(record_.rows, 2u);
}

TEST_F(CachingModel, EveryFeatureAndThePositionCount) {
    const auto cache = make(1000);
    std::vector<StageRow> rows(1, synthetic_row(0, 0));
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        rows.push_back(rows[0]);
        rows.back().features[i] += 1.0f;
    }
    rows.push_back(rows[0]);
    rows.back().position = 1;
    expect_right(*cache, rows);
    EXPECT_EQ(record_.rows, rows.size());
    expect_right(*cache, rows);
    EXPECT_EQ(record_.rows, rows.size());
}

TEST_F(CachingModel, ResultsAreRightWhenTheCacheOverflows) {
    const auto cache = make(16);
    const auto rows = random_rows(2, 300, kSyntheticStages);
    expect_right(*cache, rows);  // more than fit, in one call
    expect_right(*cache, rows);
    EXPECT_GT(record_.rows, 500u);
    // Repetitions within a call, on top of it.
    std::vector<StageRow> mixed;
    for (size_t i = 0; i < 1000; i++) {
        mixed.push_back(rows[(i * i) % 41]);
    }
    expect_right(*cache, mixed);
}

TEST_F(CachingModel, RecentlyUsedRowsSurvive) {
    const auto cache = make(64);
    const auto rows = random_rows(3, 400, kSyntheticStages);
    const std::vector<StageRow> favourite(1, rows[0]);
    cache->predict(favourite);
    for (size_t i = 1; i + 8 <= rows.size(); i += 8) {
        cache->predict({rows.begin() + static_cast<ptrdiff_t>(i),
                        rows.begin() + static_cast<ptrdiff_t>(i) + 8});
        const size_t before = record_.rows;
        expect_right(*cache, favourite);
        EXPECT_EQ(record_.rows, before);
    }
}

TEST_F(CachingModel, BeginForgets) {
    const auto cache = make(1000);
    const auto rows = synthetic_rows(2);
    cache->predict(rows);
    AlgorithmInputs more_cores = synthetic_pipeline();
    more_cores.num_cores = 80;
    cache->begin(more_cores);
    uncached_->begin(more_cores);
    EXPECT_EQ(record_.begins, 2u);
    expect_right(*cache, rows);
    EXPECT_EQ(record_.rows, 2 * rows.size());
}

TEST_F(CachingModel, AFailedPredictionLeavesNothingBehind) {
    const auto cache = make(1000);
    const auto rows = synthetic_rows(2);
    record_.fail = true;
    EXPECT_THROW(cache->predict(rows), std::runtime_error);
    record_.fail = false;
    expect_right(*cache, rows);
    EXPECT_EQ(record_.rows, rows.size());
}

}  // namespace
}  // namespace anderson2021
