// Reader and writer of the two storage forms of weights.
#include <cmath>
#include <filesystem>
#include <sstream>

#include "costmodel/file_bytes.h"
#include "costmodel/weights.h"
#include "features/schedule_features.h"

namespace anderson2021 {

namespace {

constexpr uint32_t kSignature = 0x68776631;
// Far above both the file form and any buffer of the directory form.
constexpr size_t kLargestFile = size_t{1} << 20;

// Reads values off a byte string and remembers the first thing that went wrong.
class Parser {
public:
    Parser(const uint8_t *data, size_t size) : data_(data), size_(size) {}

    bool ok() const { return error_.empty(); }
    const std::string &error() const { return error_; }
    size_t remaining() const { return size_ - at_; }

    void fail(const std::string &reason) {
        if (ok()) {
            error_ = reason;
        }
    }
    uint32_t u32(const std::string &what) {
        if (!ok() || remaining() < 4) {
            fail("the file ends before " + what + " (truncated at byte " + std::to_string(size_) +
                 ")");
            return 0;
        }
        at_ += 4;
        return load_u32(data_ + at_ - 4);
    }
    void floats(const std::string &what, std::vector<float> &values) {
        if (!ok() || remaining() < 4 * values.size()) {
            fail("the file ends inside " + what + " (truncated at byte " + std::to_string(size_) +
                 ")");
            return;
        }
        for (size_t i = 0; i < values.size(); i++) {
            values[i] = load_f32(data_ + at_);
            at_ += 4;
            if (!std::isfinite(values[i])) {
                fail("element " + std::to_string(i) + " of " + what + " is not a finite number");
                return;
            }
        }
    }

private:
    const uint8_t *data_;
    size_t size_;
    size_t at_ = 0;
    std::string error_;
};

void parse_version(Parser &parser, const std::string &what, unsigned expected) {
    const uint32_t version = parser.u32("the version of the " + what + " features");
    if (parser.ok() && version != expected) {
        parser.fail("it was made for version " + std::to_string(version) + " of the " + what +
                    " features, but this library computes version " + std::to_string(expected));
    }
}

void parse_header(Parser &parser) {
    const uint32_t signature = parser.u32("the signature");
    if (parser.ok() && signature != kSignature) {
        std::ostringstream text;
        text << "it is not a weights file: it starts with 0x" << std::hex << signature
             << " instead of the signature 0x" << kSignature;
        parser.fail(text.str());
    }
    parse_version(parser, "pipeline", kAlgorithmFeaturesVersion);
    parse_version(parser, "schedule", kScheduleFeaturesVersion);
    const uint32_t count = parser.u32("the number of buffers");
    if (parser.ok() && count != kNumWeightBuffers) {
        parser.fail("it holds " + std::to_string(count) + " buffers instead of " +
                    std::to_string(kNumWeightBuffers));
    }
}

void parse_shape(Parser &parser, const WeightBuffer &shape) {
    const std::string name = shape.name;
    const uint32_t dimensions = parser.u32("the number of dimensions of " + name);
    if (parser.ok() && dimensions != static_cast<uint32_t>(shape.dimensions)) {
        parser.fail(name + " has " + std::to_string(dimensions) + " dimensions instead of " +
                    std::to_string(shape.dimensions));
    }
    for (size_t d = 0; d < static_cast<size_t>(shape.dimensions); d++) {
        const uint32_t extent = parser.u32("the extents of " + name);
        if (parser.ok() && extent != static_cast<uint32_t>(shape.extents[d])) {
            parser.fail("extent " + std::to_string(d) + " of " + name + " is " +
                        std::to_string(extent) + " instead of " + std::to_string(shape.extents[d]));
        }
    }
}

WeightsOrError failure(const std::string &name, const std::string &reason) {
    return {std::nullopt, name + ": " + reason};
}

}  // namespace

WeightsOrError parse_weights(const void *data, size_t size, const std::string &name) {
    Parser parser(static_cast<const uint8_t *>(data), size);
    parse_header(parser);
    Weights weights;
    const auto buffers = weights.buffers();
    for (size_t i = 0; i < buffers.size() && parser.ok(); i++) {
        const WeightBuffer &shape = kWeightBuffers[i];
        parse_shape(parser, shape);
        parser.floats(shape.name, *buffers[i]);
    }
    if (parser.ok() && parser.remaining() != 0) {
        parser.fail(std::to_string(parser.remaining()) + " surplus bytes follow the last buffer");
    }
    if (!parser.ok()) {
        return failure(name, parser.error());
    }
    return {std::move(weights), ""};
}

WeightsOrError read_weights_file(const std::string &path) {
    const BytesOrError content = read_file_bytes(path, kLargestFile);
    if (!content.error.empty()) {
        return failure(path, content.error);
    }
    return parse_weights(content.bytes.data(), content.bytes.size(), path);
}

WeightsOrError read_weights_directory(const std::string &path) {
    Weights weights;
    const auto buffers = weights.buffers();
    for (size_t i = 0; i < buffers.size(); i++) {
        const WeightBuffer &shape = kWeightBuffers[i];
        const std::string file = (std::filesystem::path(path) / shape.file_name).string();
        const BytesOrError content = read_file_bytes(file, kLargestFile);
        if (!content.error.empty()) {
            return failure(file, content.error);
        }
        if (content.bytes.size() != 4 * shape.size()) {
            return failure(file,
                           "it has " + std::to_string(content.bytes.size()) +
                               " bytes instead of the " + std::to_string(4 * shape.size()) +
                               " of " + shape.name);
        }
        Parser parser(content.bytes.data(), content.bytes.size());
        parser.floats(shape.name, *buffers[i]);
        if (!parser.ok()) {
            return failure(file, parser.error());
        }
    }
    return {std::move(weights), ""};
}

bool is_weights_directory(const std::string &path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(path) / kWeightBuffers[0].file_name,
                                   ignored);
}

std::vector<uint8_t> serialize_weights(const Weights &weights) {
    std::vector<uint8_t> bytes;
    append_u32(bytes, kSignature);
    append_u32(bytes, kAlgorithmFeaturesVersion);
    append_u32(bytes, kScheduleFeaturesVersion);
    append_u32(bytes, kNumWeightBuffers);
    const auto buffers = weights.buffers();
    for (size_t i = 0; i < buffers.size(); i++) {
        const WeightBuffer &shape = kWeightBuffers[i];
        append_u32(bytes, static_cast<uint32_t>(shape.dimensions));
        for (size_t d = 0; d < static_cast<size_t>(shape.dimensions); d++) {
            append_u32(bytes, static_cast<uint32_t>(shape.extents[d]));
        }
        for (const float value : *buffers[i]) {
            append_f32(bytes, value);
        }
    }
    return bytes;
}

std::string write_weights_file(const Weights &weights, const std::string &path) {
    const std::vector<uint8_t> bytes = serialize_weights(weights);
    return replace_file(path, bytes.data(), bytes.size());
}

std::string write_weights_directory(const Weights &weights, const std::string &path) {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code) {
        return "cannot create the directory " + path + ": " + code.message();
    }
    const auto buffers = weights.buffers();
    for (size_t i = 0; i < buffers.size(); i++) {
        std::vector<uint8_t> bytes;
        for (const float value : *buffers[i]) {
            append_f32(bytes, value);
        }
        const auto file = std::filesystem::path(path) / kWeightBuffers[i].file_name;
        std::string error = replace_file(file.string(), bytes.data(), bytes.size());
        if (!error.empty()) {
            return error;
        }
    }
    return "";
}

}  // namespace anderson2021
