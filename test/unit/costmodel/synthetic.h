// Synthetic pipelines, schedules and weights with known costs, shared by the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/weights.h"

namespace anderson2021 {
namespace test {

constexpr int kSyntheticStages = 4;
constexpr int kSyntheticCores = 6;
constexpr int kSyntheticSchedules = 10;
constexpr uint32_t kSyntheticSeed = 1649136212;

/// An arithmetic pattern of counts.
AlgorithmInputs synthetic_pipeline(int num_stages = kSyntheticStages);
/// Stage w of schedule b; all values are exact in float.
StageRow synthetic_row(int b, int w);
/// Schedules 0..count-1, all stages of one after the other.
std::vector<StageRow> synthetic_rows(int count);
/// 0.125 ms x (1 + b/4).
std::vector<float> synthetic_runtimes(int count);

/// Random network.
Weights drawn_weights();
/// Coefficient c is c + 1 for every row.
Weights counting_weights();

/// Rows with features between 0 and about 1e6, efficiencies in (0, 1), and a few inlined stages.
std::vector<StageRow> random_rows(uint32_t seed, size_t count, int num_stages);

/// An empty directory that is removed at the end of the test.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

    const std::string &path() const { return path_; }
    std::string file(const std::string &name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

std::vector<uint8_t> file_content(const std::string &path);
void put_file(const std::string &path, const std::vector<uint8_t> &bytes);

}  // namespace test
}  // namespace anderson2021
