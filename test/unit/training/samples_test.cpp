#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/file_bytes.h"
#include "training/classic_samples.h"
#include "training_fixtures.h"

namespace anderson2021 {
namespace {

using namespace test;

// Hashes that the known tools compute for the same features.
TEST(Hashes, AreThoseOfTheKnownTools) {
    std::vector<float> schedule;
    for (int w = 0; w < kSyntheticStages; w++) {
        const StageRow row = synthetic_row(0, w);
        schedule.insert(schedule.end(), row.features, row.features + kNumScheduleFeatures);
    }
    EXPECT_EQ(schedule_hash(schedule.data(), kSyntheticStages), 0x74d151773c3da074u);
    EXPECT_EQ(synthetic_sampled_pipeline(0).hash, 0xfd55d4ecc3ee44ffu);
}

TEST(PackedSamples, ComeBackAsTheyWere) {
    PackedSamples samples = synthetic_samples(2, 3);
    samples.reference_features = true;
    samples.samples[1].name = "a file with blanks.sample";
    samples.pipelines[0].origin = "{\"seed\": 1}";
    PackedSamples read;
    ASSERT_EQ(unpack_samples(pack_samples(samples), read), "");
    EXPECT_TRUE(read.reference_features);
    ASSERT_EQ(read.pipelines.size(), 2u);
    ASSERT_EQ(read.samples.size(), 6u);
    EXPECT_EQ(read.pipelines[0].origin, samples.pipelines[0].origin);
    EXPECT_EQ(read.pipelines[1].hash, samples.pipelines[1].hash);
    EXPECT_EQ(read.pipelines[1].algorithm, samples.pipelines[1].algorithm);
    for (size_t i = 0; i < read.samples.size(); i++) {
        EXPECT_EQ(read.samples[i].name, samples.samples[i].name);
        EXPECT_EQ(read.samples[i].schedule, samples.samples[i].schedule);
        EXPECT_EQ(read.samples[i].runtime, samples.samples[i].runtime);
        EXPECT_EQ(read.samples[i].seed, samples.samples[i].seed);
        EXPECT_EQ(read.samples[i].hash, samples.samples[i].hash);
        EXPECT_EQ(read.samples[i].tree_hash, samples.samples[i].tree_hash);
        EXPECT_EQ(read.samples[i].source, samples.samples[i].source);
    }
}

TEST(PackedSamples, RefusesEveryTruncation) {
    const std::vector<uint8_t> bytes = pack_samples(synthetic_samples(1, 2));
    for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 97) {
        PackedSamples read;
        const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<long>(size));
        EXPECT_NE(unpack_samples(part, read), "") << size;
        EXPECT_TRUE(read.samples.empty());
    }
}

TEST(PackedSamples, RefusesEveryDamage) {
    const std::vector<uint8_t> bytes = pack_samples(synthetic_samples(1, 2));
    for (size_t at = 0; at < bytes.size(); at += 53) {
        std::vector<uint8_t> damaged = bytes;
        damaged[at] ^= 0x10;
        PackedSamples read;
        // Flags and the word after them may have any value.
        if (at < 16 || at >= 24) {
            EXPECT_NE(unpack_samples(damaged, read), "") << at;
        }
    }
}

TEST(PackedSamples, NamesOtherVersions) {
    std::vector<uint8_t> bytes = pack_samples(synthetic_samples(1, 1));
    bytes[8] = 2;
    PackedSamples read;
    EXPECT_NE(unpack_samples(bytes, read).find("versions 2 and 3 instead of 3 and 3"),
              std::string::npos);
}

TEST(ClassicSample, ComesBackAsItWas) {
    const SampledPipeline pipeline = synthetic_sampled_pipeline(3);
    const Sample sample = synthetic_sample(4);
    const std::vector<uint8_t> bytes = classic_sample_bytes(pipeline, sample);
    EXPECT_EQ(bytes.size(), 1440u * 4 + 12);
    ClassicSample read;
    ASSERT_EQ(parse_classic_sample(bytes, read), "");
    EXPECT_EQ(read.pipeline.id, 3);
    EXPECT_EQ(read.pipeline.algorithm, pipeline.algorithm);
    EXPECT_EQ(read.sample.schedule, sample.schedule);
    EXPECT_EQ(read.sample.runtime, sample.runtime);
    EXPECT_EQ(read.sample.schedule_id, 4);
    EXPECT_EQ(read.sample.hash, sample.hash);
}

TEST(ClassicSample, RefusesOtherSizes) {
    std::vector<uint8_t> bytes =
        classic_sample_bytes(synthetic_sampled_pipeline(0), synthetic_sample(0));
    ClassicSample read;
    EXPECT_NE(parse_classic_sample({}, read), "");
    EXPECT_NE(parse_classic_sample(std::vector<uint8_t>(12), read), "");
    bytes.pop_back();
    EXPECT_NE(parse_classic_sample(bytes, read).find("cut off"), std::string::npos);
}

TEST(ClassicSample, FaultsAreFound) {
    EXPECT_EQ(sample_fault(synthetic_sample(0)), "");
    for (const float runtime : {0.0f, -1.0f, std::nanf(""), 2e5f, INFINITY}) {
        Sample sample = synthetic_sample(0);
        sample.runtime = runtime;
        EXPECT_NE(sample_fault(sample), "") << runtime;
    }
    for (const float feature : {-1.0f, 2e14f, std::nanf("")}) {
        Sample sample = synthetic_sample(0);
        sample.schedule[80] = feature;
        EXPECT_NE(sample_fault(sample).find("of stage 1"), std::string::npos) << feature;
    }
}

void write_text(const std::string &path, const std::string &text) {
    ASSERT_EQ(replace_file(path, text.data(), text.size()), "");
}

TEST(SamplesInfo, SaysWhichFeaturesAFolderHolds) {
    const TemporaryFolder folder;
    bool reference = true;
    EXPECT_EQ(read_samples_info(folder.path().string(), reference), "");
    EXPECT_FALSE(reference);
    write_text(folder / kSamplesInfoName, samples_info(true));
    EXPECT_EQ(read_samples_info(folder.path().string(), reference), "");
    EXPECT_TRUE(reference);
    write_text(folder / kSamplesInfoName, "schedule_features_version 2\n");
    EXPECT_NE(read_samples_info(folder.path().string(), reference).find("2 instead of 3"),
              std::string::npos);
    write_text(folder / kSamplesInfoName, "hello world\n");
    EXPECT_NE(read_samples_info(folder.path().string(), reference), "");
}

}  // namespace
}  // namespace anderson2021
