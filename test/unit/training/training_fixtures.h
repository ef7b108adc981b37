// Small sets of samples for the tests of this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "synthetic.h"
#include "training/packed_samples.h"
#include "training/trainer.h"

namespace anderson2021 {
namespace test {

/// An empty folder that goes away with the object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    std::string operator/(const std::string &name) const { return (path_ / name).string(); }
    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A pipeline of four stages; another seed is another algorithm.
SampledPipeline synthetic_sampled_pipeline(int seed);
/// Schedule `b` with its hash and a run time of 0.1 (b + 1) ms.
Sample synthetic_sample(int b);
/// `pipelines` pipelines with `schedules` samples each.
PackedSamples synthetic_samples(int pipelines, int schedules);
/// The samples as a dataset; everything is for training but for every eighth or so.
Dataset load_samples(const TemporaryFolder &folder, const PackedSamples &samples);

}  // namespace test
}  // namespace anderson2021
