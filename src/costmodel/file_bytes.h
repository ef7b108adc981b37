// Whole files in and out of memory, for the weights formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace anderson2021 {

/// Content of a regular file, or the reason why it could not be read (without the path).
struct BytesOrError {
    std::vector<uint8_t> bytes;
    std::string error;
};
/// Gives up on files of more than `limit` bytes, so that a wrong path does not fill the memory.
BytesOrError read_file_bytes(const std::string &path, size_t limit);

/// Replaces a file: the bytes go to a new file beside it, which then takes its name. Empty string
/// on success, else the reason; the old file is then untouched and no new one remains.
std::string replace_file(const std::string &path, const void *data, size_t size);

/// Little-endian access to values in a byte stream.
uint32_t load_u32(const uint8_t *bytes);
float load_f32(const uint8_t *bytes);
void append_u32(std::vector<uint8_t> &bytes, uint32_t value);
void append_f32(std::vector<uint8_t> &bytes, float value);

}  // namespace anderson2021
