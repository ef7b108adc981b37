#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

#include "features/feature_io.h"

namespace anderson2021 {
namespace {

using AlgorithmNumbers = std::array<int32_t, kNumAlgorithmFeaturesPerRecord>;

float float_at(const std::vector<uint8_t> &blob, size_t word) {
    float value = 0;
    std::memcpy(&value, blob.data() + 4 * word, 4);
    return value;
}

TEST(FeatureIo, RecordIs360FloatsScheduleFirst) {
    ScheduleFeatures schedule;
    schedule.num_realizations = 7;
    schedule.expr_branching = 9;
    AlgorithmNumbers algorithm{};
    algorithm[0] = 1;
    algorithm[24] = 4;
    algorithm[286] = -3;
    const std::vector<uint8_t> blob = write_featurization({{schedule.data(), algorithm.data()}});
    ASSERT_EQ(blob.size(), 1440u);
    EXPECT_EQ(float_at(blob, 0), 7);
    EXPECT_EQ(float_at(blob, 52), 1.0f / 1024);
    EXPECT_EQ(float_at(blob, 72), 9);
    EXPECT_EQ(float_at(blob, 73), 1);
    EXPECT_EQ(float_at(blob, 97), 4);
    EXPECT_EQ(float_at(blob, 359), -3);
}

TEST(FeatureIo, RoundTripKeepsOrderAndRoundsToFloats) {
    std::vector<ScheduleFeatures> schedules(3);
    std::vector<AlgorithmNumbers> algorithms(3);
    std::vector<FeatureRecordView> views;
    for (size_t s = 0; s < 3; s++) {
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            schedules[s][i] = static_cast<double>(s) + i / 3.0;
        }
        std::iota(algorithms[s].begin(), algorithms[s].end(), static_cast<int32_t>(1000 * s));
        views.push_back({schedules[s].data(), algorithms[s].data()});
    }
    std::string error;
    const auto records = read_featurization(write_featurization(views), error);
    ASSERT_TRUE(records.has_value()) << error;
    ASSERT_EQ(records->size(), 3u);
    for (size_t s = 0; s < 3; s++) {
        for (size_t i = 0; i < static_cast<size_t>(kNumScheduleFeatures); i++) {
            EXPECT_EQ((*records)[s].schedule[i],
                      static_cast<float>(schedules[s][static_cast<int>(i)]));
        }
        for (size_t i = 0; i < algorithms[s].size(); i++) {
            EXPECT_EQ((*records)[s].algorithm[i], static_cast<float>(algorithms[s][i]));
        }
    }
}

TEST(FeatureIo, NoStagesGiveAnEmptyBlob) {
    EXPECT_TRUE(write_featurization({}).empty());
    std::string error;
    const auto records = read_featurization({}, error);
    ASSERT_TRUE(records.has_value());
    EXPECT_TRUE(records->empty());
}

TEST(FeatureIo, RejectsHalfARecord) {
    ScheduleFeatures schedule;
    const AlgorithmNumbers algorithm{};
    std::vector<uint8_t> blob = write_featurization({{schedule.data(), algorithm.data()}});
    blob.pop_back();
    std::string error;
    EXPECT_FALSE(read_featurization(blob, error).has_value());
    EXPECT_NE(error.find("1439"), std::string::npos) << error;
}

}  // namespace
}  // namespace anderson2021
