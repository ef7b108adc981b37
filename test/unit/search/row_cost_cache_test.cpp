#include <gtest/gtest.h>

#include "search/row_cost_cache.h"

namespace anderson2021 {
namespace {

// Costs position * 1000 + first feature; counts the rows it is asked for.
class CountingModel : public CostModel {
public:
    void begin(const AlgorithmInputs &) override {}
    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        std::vector<float> costs;
        for (const StageRow &row : rows) {
            costs.push_back(static_cast<float>(row.position) * 1000 + row.features[0]);
        }
        batches.push_back(rows.size());
        return costs;
    }
    std::vector<size_t> batches;
};

StageRow row(int position, float first, float last = 0) {
    StageRow r{};
    r.position = position;
    r.features[0] = first;
    r.features[kNumScheduleFeatures - 1] = last;
    return r;
}

using Costs = std::vector<float>;

TEST(RowCostCache, EvaluatesEachRowOnce) {
    CountingModel model;
    RowCostCache cache(model);
    EXPECT_EQ(cache.costs({row(0, 1), row(1, 1), row(0, 1)}), (Costs{1, 1001, 1}));
    EXPECT_EQ(cache.costs({row(1, 1), row(0, 2)}), (Costs{1001, 2}));
    EXPECT_EQ(model.batches, (std::vector<size_t>{2, 1}));
    EXPECT_EQ(cache.hits(), 2);
    EXPECT_EQ(cache.misses(), 3);
}

TEST(RowCostCache, AsksForNothingIfAllRowsAreKnown) {
    CountingModel model;
    RowCostCache cache(model);
    EXPECT_TRUE(cache.costs({}).empty());
    cache.costs({row(0, 1)});
    cache.costs({row(0, 1)});
    EXPECT_EQ(model.batches.size(), 1u);
}

TEST(RowCostCache, ComparesEveryFeature) {
    CountingModel model;
    RowCostCache cache(model);
    cache.costs({row(0, 1, 5)});
    cache.costs({row(0, 1, 6)});
    EXPECT_EQ(cache.misses(), 2);
}

TEST(RowCostCache, StaysWithinItsCapacity) {
    CountingModel model;
    RowCostCache cache(model, 3);
    cache.costs({row(0, 1), row(0, 2)});
    EXPECT_EQ(cache.costs({row(0, 3), row(0, 1)}), (Costs{3, 1}));
    // More rows than fit are costed all the same.
    EXPECT_EQ(cache.costs({row(0, 1), row(0, 2), row(0, 3), row(0, 4)}), (Costs{1, 2, 3, 4}));
}

}  // namespace
}  // namespace anderson2021
