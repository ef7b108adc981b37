#include "costmodel/file_bytes.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace anderson2021 {

namespace {

struct CloseFile {
    void operator()(FILE *file) const { fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

std::string system_reason() {
    return strerror(errno);
}

// Makes sure that the bytes are on the disk before the rename is, or a crash of the machine could
// leave an empty file under the final name.
bool write_and_sync(FILE *file, const void *data, size_t size) {
    return fwrite(data, 1, size, file) == size && fflush(file) == 0 && fsync(fileno(file)) == 0;
}

}  // namespace

BytesOrError read_file_bytes(const std::string &path, size_t limit) {
    BytesOrError result;
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        result.error = "it is a directory";
        return result;
    }
    const File file(fopen(path.c_str(), "rb"));
    if (!file) {
        result.error = system_reason();
        return result;
    }
    result.bytes.resize(limit + 1);
    const size_t count = fread(result.bytes.data(), 1, limit + 1, file.get());
    result.bytes.resize(count);
    if (ferror(file.get()) != 0) {
        result.error = system_reason();
    } else if (count > limit) {
        result.error = "it has more than " + std::to_string(limit) + " bytes";
    }
    return result;
}

std::string replace_file(const std::string &path, const void *data, size_t size) {
    // Other processes and threads may be replacing it, too.
    static std::atomic<unsigned> number{0};
    const std::string temporary =
        path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(number++);
    File file(fopen(temporary.c_str(), "wb"));
    if (!file) {
        return "cannot create " + temporary + ": " + system_reason();
    }
    std::string reason;
    if (!write_and_sync(file.get(), data, size)) {
        reason = "cannot write " + temporary + ": " + system_reason();
    }
    // Closing reports what a file system has put off until now.
    if (fclose(file.release()) != 0 && reason.empty()) {
        reason = "cannot write " + temporary + ": " + system_reason();
    }
    if (reason.empty() && rename(temporary.c_str(), path.c_str()) != 0) {
        reason = "cannot rename " + temporary + " to " + path + ": " + system_reason();
    }
    if (!reason.empty()) {
        remove(temporary.c_str());
    }
    return reason;
}

uint32_t load_u32(const uint8_t *bytes) {
    return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
           static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

float load_f32(const uint8_t *bytes) {
    const uint32_t bits = load_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

void append_u32(std::vector<uint8_t> &bytes, uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<uint8_t>(value >> shift));
    }
}

void append_f32(std::vector<uint8_t> &bytes, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    append_u32(bytes, bits);
}

}  // namespace anderson2021
