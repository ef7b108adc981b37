// Describes weights: checksum, and per buffer its shape and how its values are spread.
//
//   weights_info <file.weights or directory> ...
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "costmodel/weights.h"
#include "tools/tool.h"

using anderson2021::kWeightBuffers;

namespace {

void print_buffer(const anderson2021::WeightBuffer &shape, const std::vector<float> &values) {
    double sum = 0, squares = 0;
    for (const float value : values) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto count = static_cast<double>(values.size());
    const double mean = sum / count;
    std::string extents;
    for (int d = 0; d < shape.dimensions; d++) {
        extents += (d > 0 ? " x " : "") + std::to_string(shape.extents[static_cast<size_t>(d)]);
    }
    const auto range = std::minmax_element(values.begin(), values.end());
    std::printf("  %-13s %-10s mean %9.4f  deviation %9.4f  range %9.4f to %9.4f\n",
                shape.name,
                extents.c_str(),
                mean,
                std::sqrt(std::max(0.0, squares / count - mean * mean)),
                static_cast<double>(*range.first),
                static_cast<double>(*range.second));
}

// The seed of random weights can be told only if somebody names it, but their range tells them.
bool looks_untrained(const anderson2021::Weights &weights) {
    for (const std::vector<float> *buffer : weights.buffers()) {
        for (const float value : *buffer) {
            if (std::abs(value) > 0.5f) {
                return false;
            }
        }
    }
    return true;
}

bool describe(const std::string &path) {
    const bool is_directory = std::filesystem::is_directory(path);
    const auto read = is_directory ? anderson2021::read_weights_directory(path)
                                   : anderson2021::read_weights_file(path);
    if (!read.weights) {
        std::fprintf(stderr, "%s\n", read.error.c_str());
        return false;
    }
    std::printf("%s: %s, feature versions 3 and 3, checksum %08x%s\n",
                path.c_str(),
                is_directory ? "directory form (versions not recorded)" : "file form",
                read.weights->checksum(),
                looks_untrained(*read.weights) ? ", looks untrained" : "");
    for (size_t b = 0; b < kWeightBuffers.size(); b++) {
        print_buffer(kWeightBuffers[b], *read.weights->buffers()[b]);
    }
    return true;
}

int run(const anderson2021::Flags &flags) {
    bool good = true;
    for (const std::string &path : flags.words()) {
        good = describe(path) && good;
    }
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {
        "weights_info",
        "FILE|DIRECTORY ...",
        "Describes weights: checksum, and for each buffer its shape and how its values are spread.",
        {},
        1};
    return anderson2021::run_tool(tool, argc, argv, run);
}
