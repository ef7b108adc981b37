#include "synthetic.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdlib.h>

#include "costmodel/network/cost_terms.h"

namespace anderson2021 {
namespace test {

AlgorithmInputs synthetic_pipeline(int num_stages) {
    AlgorithmInputs inputs;
    inputs.num_stages = num_stages;
    inputs.num_cores = kSyntheticCores;
    for (int w = 0; w < num_stages; w++) {
        for (int x = 0; x < kHead1Width; x++) {
            for (int y = 0; y < kHead1Height; y++) {
                const int value = (x + y + w) % 3 == 0 ? (x + 2 * y + 3 * w) % 5 : 0;
                inputs.features.push_back(static_cast<float>(value));
            }
        }
    }
    return inputs;
}

StageRow synthetic_row(int b, int w) {
    StageRow row;
    row.position = w;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        row.features[i] =
            std::ldexp(static_cast<float>(1 + (7 * i + 3 * w + 5 * b) % 11), (i + w) % 6);
    }
    for (const int i : {52, 53, 55, 56, 62, 63, 64, 65, 67, 68, 69, 70}) {
        row.features[i] = std::ldexp(1.0f, -((i + w + b) % 4));
    }
    row.features[57] = 0.25f * static_cast<float>((w + b) % 4);
    row.features[18] = (w + b) % 2 == 0 ? 0.0f : static_cast<float>(3 + w);
    row.features[10] = static_cast<float>(1 + 36 * ((w + b) % 3));
    row.features[11] = static_cast<float>(1 + 4 * ((w + 2 * b) % 2));
    return row;
}

std::vector<StageRow> synthetic_rows(int count) {
    std::vector<StageRow> rows;
    for (int b = 0; b < count; b++) {
        for (int w = 0; w < kSyntheticStages; w++) {
            rows.push_back(synthetic_row(b, w));
        }
    }
    return rows;
}

std::vector<float> synthetic_runtimes(int count) {
    std::vector<float> runtimes;
    for (int b = 0; b < count; b++) {
        runtimes.push_back(0.125f * (1.0f + static_cast<float>(b) / 4.0f));
    }
    return runtimes;
}

Weights drawn_weights() {
    return Weights::random(kSyntheticSeed);
}

Weights counting_weights() {
    Weights weights = drawn_weights();
    std::fill(weights.conv1_filter.begin(), weights.conv1_filter.end(), 0.0f);
    for (size_t c = 0; c < weights.conv1_bias.size(); c++) {
        weights.conv1_bias[c] = static_cast<float>(c + 1);
    }
    return weights;
}

std::vector<StageRow> random_rows(uint32_t seed, size_t count, int num_stages) {
    std::mt19937 generator(seed);
    const auto unit = [&] { return static_cast<float>(generator() >> 8) / 16777216.0f; };
    std::vector<StageRow> rows(count);
    for (StageRow &row : rows) {
        row.position = static_cast<int>(generator() % static_cast<uint32_t>(num_stages));
        for (float &value : row.features) {
            value = std::floor(std::exp2(20.0f * unit()) - 1.0f);
        }
        for (const int i : {feature::global_mem_load_efficiency,
                            feature::global_mem_store_efficiency,
                            feature::shared_mem_load_efficiency,
                            feature::shared_mem_store_efficiency}) {
            row.features[i] = 0.05f + 0.95f * unit();
        }
        row.features[feature::idle_lane_wastage] = 0.9f * unit();
        if (generator() % 4 != 0) {
            row.features[feature::inlined_calls] = 0;
        }
    }
    return rows;
}

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weights_test_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<uint8_t> file_content(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void put_file(const std::string &path, const std::vector<uint8_t> &bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char *>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
}

}  // namespace test
}  // namespace anderson2021
