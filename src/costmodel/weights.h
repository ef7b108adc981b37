// The parameters of the network: six buffers, 5080 floats, and how they are stored and chosen.
//
// The file form (conventionally *.weights) is 20400 bytes: a signature, the versions of the two
// feature layouts that the values were trained for, the number of buffers, then per buffer its
// number of dimensions, extents and floats; everything little-endian. The older form is a directory
// with one raw file per buffer. Readers accept exactly what they can use and say why they refuse.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/network_shape.h"

namespace anderson2021 {

/// All buffers dense, first extent innermost:
///   head1_filter [8, 40, 7]   head1_bias [8]
///   head2_filter [24, 73]     head2_bias [24]
///   conv1_filter [32, 32]     conv1_bias [32]
struct Weights {
    std::vector<float> head1_filter, head1_bias, head2_filter, head2_bias, conv1_filter, conv1_bias;

    /// All zero, in the right sizes.
    Weights();
    /// The six buffers in file order.
    std::array<std::vector<float> *, kNumWeightBuffers> buffers();
    std::array<const std::vector<float> *, kNumWeightBuffers> buffers() const;
    /// Uniform in [-0.5, 0.5] from the standard MT19937, buffer by buffer; the same on every host.
    static Weights random(uint32_t seed);
    /// CRC-32 of the bytes of the file form, as printed by `crc32 <file>`.
    uint32_t checksum() const;
};

/// Weights, or the reason why there are none (names path and defect).
struct WeightsOrError {
    std::optional<Weights> weights;
    std::string error;
};

/// Parses the bytes of a .weights file; `name` is used in messages. Refused are: a foreign
/// signature, other feature versions than this library's, another number of buffers, another
/// shape, missing or surplus bytes, and values that are not finite.
WeightsOrError parse_weights(const void *data, size_t size, const std::string &name);
/// Reads a .weights file, whatever it is called.
WeightsOrError read_weights_file(const std::string &path);
/// Reads the deprecated form: a directory of six raw .data files of exactly the right sizes. The
/// feature versions are taken to be this library's, there being nothing to tell them from.
WeightsOrError read_weights_directory(const std::string &path);
/// True if `path` is a directory that holds the first file of the deprecated form.
bool is_weights_directory(const std::string &path);
/// Bytes of a .weights file, with the current feature versions.
std::vector<uint8_t> serialize_weights(const Weights &weights);
/// Writes through a temporary file and a rename, so that a reader (or a crash) sees the old file or
/// the new one. Empty string on success, else the reason.
std::string write_weights_file(const Weights &weights, const std::string &path);
/// Writes the six files, each through a rename; creates the directory if need be.
std::string write_weights_directory(const Weights &weights, const std::string &path);
/// The weights embedded at build time from baseline.weights.
const Weights &builtin_weights();

/// Where weights come from, by precedence: `weights_path`, else the environment's `weights_dir`,
/// else the built-in ones. Either may be a file, a directory of the deprecated form, or a
/// collection of .weights files out of which `name` picks <name>.weights (default: baseline).
/// `name` is a wish about a collection: where there is none, it has to agree with what is taken
/// (the file's name without .weights; "baseline" for the built-in weights), else it is an error.
struct WeightsSource {
    std::string weights_path;
    std::string weights_dir;
    std::string name;
};
struct SelectedWeights {
    std::optional<Weights> weights;
    /// What was chosen, with its checksum, for the log; or the reason of failure and the remedy.
    std::string description;
};
/// Never falls back on other weights than the ones asked for.
SelectedWeights select_weights(const WeightsSource &source);

}  // namespace anderson2021
