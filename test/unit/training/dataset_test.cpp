#include <cmath>
#include <gtest/gtest.h>

#include "costmodel/file_bytes.h"
#include "support/error.h"
#include "training/classic_samples.h"
#include "training_fixtures.h"

namespace anderson2021 {
namespace {

using namespace test;

void write_sample(const std::string &path, const SampledPipeline &pipeline, const Sample &sample) {
    const std::vector<uint8_t> bytes = classic_sample_bytes(pipeline, sample);
    ASSERT_EQ(replace_file(path, bytes.data(), bytes.size()), "");
}

void write_bytes(const std::string &path, const std::string &text) {
    ASSERT_EQ(replace_file(path, text.data(), text.size()), "");
}

std::string load_error(const std::vector<std::string> &paths) {
    LoadReport report;
    try {
        Dataset::load(paths, DatasetOptions(), report);
    } catch (const UserError &error) {
        return error.what();
    }
    return "";
}

TEST(Dataset, SplitsByHash) {
    const TemporaryFolder folder;
    const Dataset dataset = load_samples(folder, synthetic_samples(2, 40));
    EXPECT_EQ(dataset.pipelines.size(), 2u);
    EXPECT_EQ(dataset.num_schedules(false) + dataset.num_schedules(true), 80);
    EXPECT_GT(dataset.num_schedules(true), 0);
    for (const auto &pipeline : dataset.pipelines) {
        for (const DatasetEntry &entry : pipeline->validation) {
            EXPECT_EQ(entry.hash & 7, 0u);
        }
        for (size_t i = 0; i < pipeline->training.size(); i++) {
            EXPECT_NE(pipeline->training[i].hash & 7, 0u);
            if (i > 0) {
                EXPECT_LT(pipeline->training[i - 1].hash, pipeline->training[i].hash);
            }
        }
    }
}

TEST(Dataset, KeepsRepeatedMeasurementsTogether) {
    const TemporaryFolder folder;
    const SampledPipeline pipeline = synthetic_sampled_pipeline(0);
    Sample sample = synthetic_sample(0);
    for (const float runtime : {3.0f, 1.0f, 2.0f}) {
        sample.runtime = runtime;
        write_sample(folder / ("a b" + std::to_string(runtime) + ".sample"), pipeline, sample);
    }
    LoadReport report;
    const Dataset dataset = Dataset::load({folder.path().string()}, DatasetOptions(), report);
    EXPECT_EQ(report.samples, 3);
    EXPECT_EQ(report.unique, 1);
    EXPECT_EQ(report.best_runtime, 1.0f);
    ASSERT_EQ(dataset.pipelines[0]->training.size(), 1u);
    EXPECT_EQ(dataset.pipelines[0]->training[0].runtimes, (std::vector<float>{1, 2, 3}));
    EXPECT_NEAR(Dataset::noise_level(*dataset.pipelines[0]), 1, 1e-6);
}

// The same id for two algorithms, or for two numbers of stages, must not mix them.
TEST(Dataset, TellsPipelinesOfOneIdApart) {
    const TemporaryFolder folder;
    SampledPipeline other = synthetic_sampled_pipeline(1);
    other.id = 0;
    write_sample(folder / "a.sample", synthetic_sampled_pipeline(0), synthetic_sample(0));
    write_sample(folder / "b.sample", other, synthetic_sample(0));
    LoadReport report;
    EXPECT_EQ(Dataset::load({folder.path().string()}, DatasetOptions(), report).pipelines.size(),
              2u);
}

TEST(Dataset, SkipsUselessSamplesAndGoesOn) {
    const TemporaryFolder folder;
    const SampledPipeline pipeline = synthetic_sampled_pipeline(0);
    write_sample(folder / "good.sample", pipeline, synthetic_sample(0));
    const float runtimes[] = {0.0f, -1.0f, std::nanf("")};
    for (int i = 0; i < 3; i++) {
        Sample sample = synthetic_sample(i + 1);
        sample.runtime = runtimes[i];
        write_sample(folder / ("bad" + std::to_string(i) + ".sample"), pipeline, sample);
    }
    write_bytes(folder / "empty.sample", "");
    write_bytes(folder / "cut.sample", std::string(1000, 'x'));
    LoadReport report;
    const Dataset dataset = Dataset::load(
        {folder.path().string(), folder / "missing.sample", "other.txt"}, DatasetOptions(), report);
    EXPECT_EQ(report.unique, 1);
    EXPECT_EQ(report.skipped_samples, 3);
    EXPECT_EQ(report.skipped_files, 4);
    EXPECT_EQ(report.messages.size(), 7u);
}

TEST(Dataset, RefusesOtherFeatures) {
    const TemporaryFolder folder;
    PackedSamples samples = synthetic_samples(1, 2);
    samples.reference_features = true;
    ASSERT_EQ(write_packed_samples(folder / "all.samples", samples), "");
    EXPECT_NE(load_error({folder / "all.samples"}).find("reference_features"), std::string::npos);
    ASSERT_EQ(write_classic_samples(folder / "classic", samples), "");
    EXPECT_NE(load_error({folder / "classic"}).find("reference_features"), std::string::npos);
    samples.reference_features = false;
    ASSERT_EQ(write_classic_samples(folder / "classic", samples), "");
    EXPECT_EQ(load_error({folder / "classic"}), "");
    write_bytes(folder / "classic/samples.info", "pipeline_features_version 4\n");
    EXPECT_NE(load_error({folder / "classic"}).find("4 instead of 3"), std::string::npos);
}

TEST(Dataset, SaysWhenNothingIsLeft) {
    EXPECT_NE(load_error({"missing.sample"}).find("no usable sample"), std::string::npos);
    EXPECT_NE(load_error({}).find("no usable sample"), std::string::npos);
}

TEST(Dataset, LeavesOutPipelinesAndTheirVariants) {
    const TemporaryFolder folder;
    PackedSamples samples = synthetic_samples(3, 4);
    samples.pipelines[1].name = "hist";
    samples.pipelines[2].name = "hist_good";
    samples.pipelines[0].name = "histogram";
    ASSERT_EQ(write_packed_samples(folder / "all.samples", samples), "");
    LoadReport report;
    DatasetOptions options;
    options.exclude = {"hist"};
    const Dataset dataset = Dataset::load({folder / "all.samples"}, options, report);
    ASSERT_EQ(dataset.pipelines.size(), 1u);
    EXPECT_EQ(dataset.pipelines[0]->info.name, "histogram");
}

TEST(Dataset, TheCacheHoldsTheSame) {
    const TemporaryFolder folder;
    ASSERT_EQ(write_classic_samples(folder / "classic", synthetic_samples(2, 5)), "");
    DatasetOptions options;
    options.cache = folder / "cache";
    uint64_t fingerprints[3];
    int64_t cached[3];
    for (int i = 0; i < 3; i++) {
        LoadReport report;
        fingerprints[i] = Dataset::load({folder / "classic"}, options, report).fingerprint();
        cached[i] = report.cached_files;
        if (i == 1) {
            // A changed file is another one.
            Sample sample = synthetic_sample(2);
            sample.runtime = 77;
            write_sample(
                folder / "classic/synthetic_0_2.sample", synthetic_sampled_pipeline(0), sample);
        }
    }
    EXPECT_EQ(fingerprints[0], fingerprints[1]);
    EXPECT_NE(fingerprints[0], fingerprints[2]);
    EXPECT_EQ(cached[0], 0);
    EXPECT_EQ(cached[1], 10);
    EXPECT_EQ(cached[2], 0);
}

TEST(Batches, JoinShortRests) {
    const TemporaryFolder folder;
    for (const int count : {5, 64, 72, 73, 140}) {
        Dataset dataset = load_samples(folder, synthetic_samples(1, count));
        for (const auto &pipeline : dataset.pipelines) {
            for (DatasetEntry &entry : pipeline->validation) {
                pipeline->training.push_back(std::move(entry));
            }
            pipeline->validation.clear();
        }
        ThreadPool pool(1);
        const std::vector<Batch> batches = make_batches(dataset, false, 0, pool);
        size_t total = 0;
        for (const Batch &batch : batches) {
            EXPECT_LE(batch.count, 72u);
            EXPECT_TRUE(batches.size() == 1 || batch.count > 8);
            total += batch.count;
        }
        EXPECT_EQ(total, static_cast<size_t>(count));
        EXPECT_EQ(batches.size(),
                  count <= 72 ? 1u : (count == 73 ? 2u : 3u - (count == 140 ? 0u : 1u)));
    }
}

}  // namespace
}  // namespace anderson2021
