// The classic form of samples: one .sample file per schedule, which is its .featurization (1440
// bytes per stage) followed by the run time in ms, the pipeline's id and the schedule's.
//
// These files do not say which kind of features they hold. So a folder of samples has a file
// `samples.info` with lines `key value`; where there is none, the features are taken to be current
// and as the weights were trained.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/packed_samples.h"

namespace anderson2021 {

constexpr const char *kSamplesInfoName = "samples.info";

/// One file, read.
struct ClassicSample {
    SampledPipeline pipeline;
    Sample sample;
};

/// The bytes of a file.
std::vector<uint8_t> classic_sample_bytes(const SampledPipeline &pipeline, const Sample &sample);
/// Empty string, or the reason why the bytes are no sample. Run time and features are taken as they
/// are; see sample_fault().
std::string parse_classic_sample(const std::vector<uint8_t> &bytes, ClassicSample &result);
/// What makes a sample useless for training, or an empty string: a run time that is not a positive
/// number or implausibly long, features that are no numbers, negative or implausibly large.
std::string sample_fault(const Sample &sample);

/// Text of a samples.info.
std::string samples_info(bool reference_features);
/// Reads the samples.info of a folder. Empty string if there is none or it is as it should be;
/// else what is wrong, naming the file. Features of the reference are not wrong as such.
std::string read_samples_info(const std::string &folder, bool &reference_features);

/// Writes all samples as <pipeline>_<schedule id>.sample, and samples.info. Empty string or reason.
std::string write_classic_samples(const std::string &folder, const PackedSamples &samples);

}  // namespace anderson2021
