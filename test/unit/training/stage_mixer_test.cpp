#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "support/error.h"
#include "training/stage_mixer.h"
#include "training_fixtures.h"

namespace anderson2021 {
namespace {

using namespace test;

constexpr size_t kInputs = kNumScheduleFeatures;

class StageMixerTest : public testing::Test {
protected:
    StageMixer mixer(const MixerOptions &options) const { return StageMixer(dataset, options); }

    // Whether a stage of the dataset has these inputs.
    bool exists(const Unit &unit, size_t lane) const {
        std::array<float, kInputs> wanted;
        for (size_t i = 0; i < kInputs; i++) {
            wanted[i] = unit.inputs[i * kLanes + lane];
        }
        for (const auto &pipeline : dataset.pipelines) {
            for (const auto *entries : {&pipeline->training, &pipeline->validation}) {
                for (const DatasetEntry &entry : *entries) {
                    for (size_t w = 0; w < kSyntheticStages; w++) {
                        size_t i = 0;
                        while (i < kInputs &&
                               std::log1p(entry.schedule[w * kInputs + i]) == wanted[i]) {
                            i++;
                        }
                        if (i == kInputs) {
                            return true;
                        }
                    }
                }
            }
        }
        return false;
    }

    TemporaryFolder folder;
    Dataset dataset = load_samples(folder, synthetic_samples(3, 40));
};

TEST_F(StageMixerTest, DependsOnSeedAndNumberAlone) {
    MixerOptions options;
    options.seed = 5;
    const StageMixer one = mixer(options), two = mixer(options);
    options.seed = 6;
    const StageMixer other = mixer(options);
    MixedUnit a, b, c, d;
    one.make(1, a);
    one.make(17, a);
    two.make(17, b);
    EXPECT_EQ(a.unit.inputs, b.unit.inputs);
    other.make(17, c);
    EXPECT_NE(a.unit.inputs, c.unit.inputs);
    one.make(18, d);
    EXPECT_NE(a.unit.inputs, d.unit.inputs);
}

TEST_F(StageMixerTest, UnmixedStagesAreThoseOfThePipelines) {
    MixerOptions options;
    options.unmixed = 1;
    const StageMixer all = mixer(options);
    for (uint64_t number = 0; number < 20; number++) {
        MixedUnit unit;
        all.make(number, unit);
        bool known = false;
        for (const auto &pipeline : dataset.pipelines) {
            for (const auto &stage : pipeline->algorithm.stages) {
                const auto &made = unit.algorithm.stages.front();
                bool same = stage.size() == made.size();
                for (size_t i = 0; same && i < stage.size(); i++) {
                    same = stage[i].index == made[i].index && stage[i].count == made[i].count;
                }
                known = known || same;
            }
        }
        EXPECT_TRUE(known);
        for (size_t lane = 0; lane < kLanes; lane++) {
            EXPECT_TRUE(exists(unit.unit, lane));
        }
        float largest = 0;
        for (const float multiplier : unit.unit.multipliers) {
            largest = std::max(largest, multiplier);
        }
        EXPECT_GT(largest, 0);
    }
}

TEST_F(StageMixerTest, MixedStagesAreNewButPossible) {
    MixerOptions options;
    options.unmixed = 0;
    const StageMixer all = mixer(options);
    int fresh = 0, rows = 0;
    for (uint64_t number = 0; number < 50; number++) {
        MixedUnit unit;
        all.make(number, unit);
        ASSERT_EQ(unit.unit.num_stages(), 1);
        ASSERT_EQ(unit.unit.count, kLanes);
        std::set<uint16_t> seen;
        for (const SparseAlgorithm::Entry &entry : unit.algorithm.stages.front()) {
            EXPECT_LT(entry.index, kNumNetworkFeatures);
            EXPECT_GT(entry.count, 0);
            EXPECT_TRUE(std::isfinite(entry.count));
            EXPECT_TRUE(seen.insert(entry.index).second);
        }
        for (const float input : unit.unit.inputs) {
            EXPECT_TRUE(std::isfinite(input) && input >= 0);
        }
        for (size_t lane = 0; lane < kLanes; lane++) {
            fresh += exists(unit.unit, lane) ? 0 : 1;
            rows++;
        }
    }
    EXPECT_GT(fresh, rows * 9 / 10);
}

TEST_F(StageMixerTest, SharesStayShares) {
    // Feature 65 is an efficiency.
    for (const auto &pipeline : dataset.pipelines) {
        for (auto *entries : {&pipeline->training, &pipeline->validation}) {
            for (size_t n = 0; n < entries->size(); n++) {
                for (size_t w = 0; w < kSyntheticStages; w++) {
                    (*entries)[n].schedule[w * kInputs + 65] = n % 2 == 0 ? 1.0f : 0.25f;
                }
            }
        }
    }
    const StageMixer all = mixer({});
    for (uint64_t number = 0; number < 50; number++) {
        MixedUnit unit;
        all.make(number, unit);
        for (size_t lane = 0; lane < kLanes; lane++) {
            EXPECT_LE(unit.unit.inputs[65 * kLanes + lane], std::log(2.0f) + 1e-6f);
        }
    }
}

TEST_F(StageMixerTest, KeepsNoMoreRowsThanAskedFor) {
    MixerOptions options;
    options.rows = 7;
    EXPECT_EQ(mixer(options).num_rows(), 7);
    options.rows = 0;
    EXPECT_THROW(mixer(options), UserError);
    dataset.pipelines.clear();
    EXPECT_THROW(mixer({}), UserError);
}

}  // namespace
}  // namespace anderson2021
