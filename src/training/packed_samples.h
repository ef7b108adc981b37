// Many samples in one file.
//
// A header (magic, format and feature versions, flags) is followed by chunks, each with a kind, a
// size and a CRC-32; the last one says how many samples there are. So files that were cut off or
// damaged are told from whole ones. Little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "training/sample.h"

namespace anderson2021 {

struct PackedSamples {
    /// Features computed as the Halide 21 plugin does; useless together with others.
    bool reference_features = false;
    std::vector<SampledPipeline> pipelines;
    std::vector<Sample> samples;
};

/// CRC-32 as of zip files.
uint32_t crc32(const void *data, size_t size);

/// Bytes of a file.
std::vector<uint8_t> pack_samples(const PackedSamples &samples);
/// Empty string, or the reason why the bytes are no samples that can be used; `result` is then
/// empty. Refuses other versions of the format or of the features, and damaged and cut-off files.
std::string unpack_samples(const std::vector<uint8_t> &bytes, PackedSamples &result);

/// True if the bytes start like a packed file.
bool is_packed(const std::vector<uint8_t> &bytes);

/// The same with files. The reason names the path.
std::string read_packed_samples(const std::string &path, PackedSamples &result);
std::string write_packed_samples(const std::string &path, const PackedSamples &samples);

}  // namespace anderson2021
