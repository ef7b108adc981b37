// The parameters of the network: six buffers, 5080 floats, and their file formats (CM 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anderson2021 {

constexpr int kHead1Channels = 8, kHead1Width = 40, kHead1Height = 7;
constexpr int kHead2Channels = 24, kHead2Width = 73;
constexpr int kConv1Channels = 32;

/// All buffers dense, first extent innermost:
///   head1_filter [8, 40, 7]   head1_bias [8]
///   head2_filter [24, 73]     head2_bias [24]
///   conv1_filter [32, 32]     conv1_bias [32]
struct Weights {
    std::vector<float> head1_filter, head1_bias, head2_filter, head2_bias, conv1_filter, conv1_bias;

    Weights();
    /// The six buffers in file order.
    std::array<std::vector<float> *, 6> buffers();
    std::array<const std::vector<float> *, 6> buffers() const;
    /// Uniform in [-0.5, 0.5] from the standard MT19937, buffer by buffer (CM 4.4).
    static Weights random(uint32_t seed);
    /// Checksum for logs.
    uint32_t checksum() const;
};

/// Weights, or the reason why there are none (names path and defect).
struct WeightsOrError {
    std::optional<Weights> weights;
    std::string error;
};

/// Parses the bytes of a .weights file; `name` is used in messages.
WeightsOrError parse_weights(const void *data, size_t size, const std::string &name);
/// Reads a .weights file, whatever it is called.
WeightsOrError read_weights_file(const std::string &path);
/// Reads the deprecated form: a directory of six raw .data files.
WeightsOrError read_weights_directory(const std::string &path);
/// Bytes of a .weights file.
std::vector<uint8_t> serialize_weights(const Weights &weights);
/// Writes through a temporary file and a rename. Empty string on success, else the reason.
std::string write_weights_file(const Weights &weights, const std::string &path);
std::string write_weights_directory(const Weights &weights, const std::string &path);
/// The weights embedded at build time from baseline.weights.
const Weights &builtin_weights();

/// Where weights come from, by precedence (CM 4.3): `weights_path`, else the environment's
/// `weights_dir`, else the built-in ones. A directory is either the deprecated form or a
/// collection of .weights files out of which `name` picks <name>.weights (default: baseline).
struct WeightsSource {
    std::string weights_path;
    std::string weights_dir;
    std::string name;
};
struct SelectedWeights {
    std::optional<Weights> weights;
    /// What was chosen, for the log; or the reason of failure.
    std::string description;
};
SelectedWeights select_weights(const WeightsSource &source);

}  // namespace anderson2021
