#include "training/classic_samples.h"

#include <cmath>
#include <filesystem>
#include <sstream>

#include "costmodel/file_bytes.h"
#include "features/schedule_features.h"

namespace anderson2021 {

namespace {

constexpr size_t kTrailerSize = 12;
constexpr size_t kLargestInfo = 65536;
constexpr float kLongestRuntime = 100000;
constexpr float kLargestFeature = 1e14f;

}  // namespace

std::vector<uint8_t> classic_sample_bytes(const SampledPipeline &pipeline, const Sample &sample) {
    std::vector<uint8_t> bytes;
    for (int stage = 0; stage < pipeline.num_stages; stage++) {
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            append_f32(bytes,
                       sample.schedule[static_cast<size_t>(stage * kNumScheduleFeatures + i)]);
        }
        for (int i = 0; i < kNumAlgorithmFeaturesPerRecord; i++) {
            append_f32(
                bytes,
                pipeline
                    .algorithm[static_cast<size_t>(stage * kNumAlgorithmFeaturesPerRecord + i)]);
        }
    }
    append_f32(bytes, sample.runtime);
    append_u32(bytes, static_cast<uint32_t>(pipeline.id));
    append_u32(bytes, static_cast<uint32_t>(sample.schedule_id));
    return bytes;
}

std::string parse_classic_sample(const std::vector<uint8_t> &bytes, ClassicSample &result) {
    if (bytes.empty()) {
        return "it is empty";
    }
    if (bytes.size() <= kTrailerSize || (bytes.size() - kTrailerSize) % kBytesPerRecord != 0) {
        return "its size of " + std::to_string(bytes.size()) +
               " bytes is not 12 plus a multiple of " + std::to_string(kBytesPerRecord) +
               "; it may be cut off";
    }
    const size_t stages = (bytes.size() - kTrailerSize) / kBytesPerRecord;
    result = ClassicSample();
    const uint8_t *at = bytes.data();
    for (size_t stage = 0; stage < stages; stage++) {
        for (int i = 0; i < kFloatsPerRecord; i++, at += 4) {
            auto &to =
                i < kNumScheduleFeatures ? result.sample.schedule : result.pipeline.algorithm;
            to.push_back(load_f32(at));
        }
    }
    result.sample.runtime = load_f32(at);
    result.pipeline.id = static_cast<int32_t>(load_u32(at + 4));
    result.sample.schedule_id = static_cast<int32_t>(load_u32(at + 8));
    const int count = static_cast<int>(stages);
    result.pipeline.num_stages = count;
    result.pipeline.name = "pipeline " + std::to_string(result.pipeline.id);
    result.pipeline.hash = pipeline_hash(result.pipeline.algorithm.data(), count);
    result.sample.hash = schedule_hash(result.sample.schedule.data(), count);
    return "";
}

std::string sample_fault(const Sample &sample) {
    if (!std::isfinite(sample.runtime) || sample.runtime <= 0) {
        std::ostringstream text;
        text << "its run time is " << sample.runtime << " ms";
        return text.str();
    }
    if (sample.runtime > kLongestRuntime) {
        return "its run time of " + std::to_string(sample.runtime) + " ms is implausible";
    }
    for (size_t i = 0; i < sample.schedule.size(); i++) {
        const float value = sample.schedule[i];
        if (!(value >= 0 && value <= kLargestFeature)) {
            std::ostringstream text;
            text << "feature " << schedule_feature_name(static_cast<int>(i) % kNumScheduleFeatures)
                 << " of stage " << i / kNumScheduleFeatures << " is " << value;
            return text.str();
        }
    }
    return "";
}

std::string samples_info(bool reference_features) {
    return "pipeline_features_version " + std::to_string(kAlgorithmFeaturesVersion) +
           "\nschedule_features_version " + std::to_string(kScheduleFeaturesVersion) +
           "\nreference_features " + (reference_features ? "1" : "0") + "\n";
}

std::string read_samples_info(const std::string &folder, bool &reference_features) {
    reference_features = false;
    const std::filesystem::path path = std::filesystem::path(folder) / kSamplesInfoName;
    std::error_code code;
    if (!std::filesystem::exists(path, code)) {
        return "";
    }
    const BytesOrError content = read_file_bytes(path.string(), kLargestInfo);
    if (!content.error.empty()) {
        return path.string() + ": " + content.error;
    }
    std::istringstream text(std::string(content.bytes.begin(), content.bytes.end()));
    std::string key, value;
    while (text >> key >> value) {
        unsigned expected = 0;
        if (key == "reference_features" && (value == "0" || value == "1")) {
            reference_features = value == "1";
            continue;
        } else if (key == "pipeline_features_version") {
            expected = kAlgorithmFeaturesVersion;
        } else if (key == "schedule_features_version") {
            expected = kScheduleFeaturesVersion;
        } else {
            return path.string() + ": " + key + " " + value + " makes no sense";
        }
        if (value != std::to_string(expected)) {
            return path.string() + ": " + key + " is " + value + " instead of " +
                   std::to_string(expected);
        }
    }
    return "";
}

std::string write_classic_samples(const std::string &folder, const PackedSamples &samples) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) {
        return "cannot create the directory " + folder + ": " + code.message();
    }
    const std::string info = samples_info(samples.reference_features);
    std::string error = replace_file(
        (std::filesystem::path(folder) / kSamplesInfoName).string(), info.data(), info.size());
    for (size_t i = 0; i < samples.samples.size() && error.empty(); i++) {
        const Sample &sample = samples.samples[i];
        const SampledPipeline &pipeline = samples.pipelines[sample.pipeline];
        const std::vector<uint8_t> bytes = classic_sample_bytes(pipeline, sample);
        const std::string name =
            pipeline.name + "_" + std::to_string(sample.schedule_id) + ".sample";
        error = replace_file(
            (std::filesystem::path(folder) / name).string(), bytes.data(), bytes.size());
    }
    return error;
}

}  // namespace anderson2021
