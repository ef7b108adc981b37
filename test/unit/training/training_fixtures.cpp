#include "training_fixtures.h"

#include <atomic>
#include <unistd.h>

#include "support/error.h"

namespace anderson2021 {
namespace test {

TemporaryFolder::TemporaryFolder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("test_training." + std::to_string(getpid()) + "." + std::to_string(count++));
    std::filesystem::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

SampledPipeline synthetic_sampled_pipeline(int seed) {
    const AlgorithmInputs inputs = synthetic_pipeline();
    SampledPipeline pipeline;
    pipeline.name = "synthetic_" + std::to_string(seed);
    pipeline.id = seed;
    pipeline.num_stages = kSyntheticStages;
    pipeline.num_cores = kSyntheticCores;
    for (int w = 0; w < kSyntheticStages; w++) {
        pipeline.algorithm.insert(pipeline.algorithm.end(), 7, 0.0f);
        for (int i = 0; i < kNumNetworkFeatures; i++) {
            const float count = inputs.features[static_cast<size_t>(w * kNumNetworkFeatures + i)];
            pipeline.algorithm.push_back(i == w ? count + static_cast<float>(seed) : count);
        }
    }
    pipeline.hash = pipeline_hash(pipeline.algorithm.data(), pipeline.num_stages);
    return pipeline;
}

Sample synthetic_sample(int b) {
    Sample sample;
    sample.schedule_id = b;
    sample.seed = b;
    sample.tree_hash = static_cast<uint64_t>(b) + 1;
    sample.source = LabelSource::Measured;
    sample.runtime = 0.1f * static_cast<float>(b + 1);
    for (int w = 0; w < kSyntheticStages; w++) {
        const StageRow row = synthetic_row(b, w);
        sample.schedule.insert(
            sample.schedule.end(), row.features, row.features + kNumScheduleFeatures);
    }
    // The features of the fixtures repeat.
    sample.schedule[36] += static_cast<float>(b);
    sample.hash = schedule_hash(sample.schedule.data(), kSyntheticStages);
    return sample;
}

PackedSamples synthetic_samples(int pipelines, int schedules) {
    PackedSamples result;
    for (int p = 0; p < pipelines; p++) {
        result.pipelines.push_back(synthetic_sampled_pipeline(p));
        for (int b = 0; b < schedules; b++) {
            result.samples.push_back(synthetic_sample(b));
            result.samples.back().pipeline = static_cast<uint32_t>(p);
        }
    }
    return result;
}

Dataset load_samples(const TemporaryFolder &folder, const PackedSamples &samples) {
    const std::string path = folder / "all.samples";
    const std::string error = write_packed_samples(path, samples);
    ANDERSON_CHECK(error.empty()) << error;
    LoadReport report;
    DatasetOptions options;
    options.partition_schedules = true;
    return Dataset::load({path}, options, report);
}

}  // namespace test
}  // namespace anderson2021
