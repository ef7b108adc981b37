#include "training/packed_samples.h"

#include <array>
#include <filesystem>
#include <utility>

#include "costmodel/file_bytes.h"
#include "features/schedule_features.h"

namespace anderson2021 {

namespace {

constexpr uint32_t kMagic = 0x73313261;  // "a21s"
constexpr uint32_t kFormatVersion = 2;
constexpr uint32_t kReferenceFeatures = 1;
// More stages than any pipeline has, so that a damaged number does not fill the memory.
constexpr uint32_t kMaxStages = 1u << 20;

enum ChunkKind : uint32_t { PipelineChunk = 1, SampleChunk = 2, EndChunk = 3 };

void append_u64(std::vector<uint8_t> &bytes, uint64_t value) {
    append_u32(bytes, static_cast<uint32_t>(value));
    append_u32(bytes, static_cast<uint32_t>(value >> 32));
}

void append_string(std::vector<uint8_t> &bytes, const std::string &text) {
    append_u32(bytes, static_cast<uint32_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
}

void append_floats(std::vector<uint8_t> &bytes, const std::vector<float> &values) {
    for (const float value : values) {
        append_f32(bytes, value);
    }
}

void append_chunk(std::vector<uint8_t> &bytes, ChunkKind kind, const std::vector<uint8_t> &chunk) {
    append_u32(bytes, kind);
    append_u32(bytes, static_cast<uint32_t>(chunk.size()));
    append_u32(bytes, crc32(chunk.data(), chunk.size()));
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
}

std::vector<uint8_t> pipeline_chunk(const SampledPipeline &pipeline) {
    std::vector<uint8_t> chunk;
    append_string(chunk, pipeline.name);
    append_u32(chunk, static_cast<uint32_t>(pipeline.id));
    append_u32(chunk, static_cast<uint32_t>(pipeline.num_stages));
    append_u32(chunk, static_cast<uint32_t>(pipeline.num_cores));
    append_string(chunk, pipeline.origin);
    append_floats(chunk, pipeline.algorithm);
    return chunk;
}

std::vector<uint8_t> sample_chunk(const Sample &sample) {
    std::vector<uint8_t> chunk;
    append_u32(chunk, sample.pipeline);
    append_u32(chunk, static_cast<uint32_t>(sample.schedule_id));
    append_u64(chunk, static_cast<uint64_t>(sample.seed));
    append_u64(chunk, sample.tree_hash);
    append_u32(chunk, static_cast<uint32_t>(sample.source));
    append_f32(chunk, sample.runtime);
    append_f32(chunk, sample.prediction);
    append_string(chunk, sample.name);
    append_floats(chunk, sample.schedule);
    return chunk;
}

// Reads values off a stretch of bytes; once it has run out, only zeros.
class Reader {
public:
    Reader(const uint8_t *data, size_t size) : at_(data), end_(data + size) {}

    bool ok() const { return ok_; }
    size_t left() const { return static_cast<size_t>(end_ - at_); }
    const uint8_t *take(size_t size) {
        if (!ok_ || left() < size) {
            ok_ = false;
            return nullptr;
        }
        at_ += size;
        return at_ - size;
    }
    uint32_t u32() {
        const uint8_t *from = take(4);
        return from != nullptr ? load_u32(from) : 0;
    }
    uint64_t u64() {
        const uint64_t low = u32();
        return low | static_cast<uint64_t>(u32()) << 32;
    }
    float f32() {
        const uint8_t *from = take(4);
        return from != nullptr ? load_f32(from) : 0;
    }
    std::string string() {
        const uint32_t size = u32();
        const uint8_t *from = take(size);
        return from != nullptr ? std::string(from, from + size) : std::string();
    }
    std::vector<float> floats(size_t count) {
        const uint8_t *from = take(4 * count);
        std::vector<float> values(from != nullptr ? count : 0);
        for (size_t i = 0; i < values.size(); i++) {
            values[i] = load_f32(from + 4 * i);
        }
        return values;
    }

private:
    const uint8_t *at_, *end_;
    bool ok_ = true;
};

std::string read_pipeline(Reader reader, SampledPipeline &pipeline) {
    pipeline.name = reader.string();
    pipeline.id = static_cast<int32_t>(reader.u32());
    const uint32_t stages = reader.u32();
    pipeline.num_cores = static_cast<int>(reader.u32());
    pipeline.origin = reader.string();
    if (!reader.ok() || stages == 0 || stages > kMaxStages) {
        return "a pipeline's description makes no sense";
    }
    pipeline.num_stages = static_cast<int>(stages);
    pipeline.algorithm = reader.floats(stages * size_t{kNumAlgorithmFeaturesPerRecord});
    if (!reader.ok() || reader.left() != 0) {
        return "the description of pipeline " + pipeline.name + " has the wrong size";
    }
    pipeline.hash = pipeline_hash(pipeline.algorithm.data(), pipeline.num_stages);
    return "";
}

std::string
read_sample(Reader reader, const std::vector<SampledPipeline> &pipelines, Sample &sample) {
    sample.pipeline = reader.u32();
    sample.schedule_id = static_cast<int32_t>(reader.u32());
    sample.seed = static_cast<int64_t>(reader.u64());
    sample.tree_hash = reader.u64();
    sample.source = static_cast<LabelSource>(reader.u32());
    sample.runtime = reader.f32();
    sample.prediction = reader.f32();
    sample.name = reader.string();
    if (!reader.ok() || sample.pipeline >= pipelines.size()) {
        return "a sample belongs to no pipeline";
    }
    const int stages = pipelines[sample.pipeline].num_stages;
    sample.schedule = reader.floats(static_cast<size_t>(stages) * kNumScheduleFeatures);
    if (!reader.ok() || reader.left() != 0) {
        return "a sample has the wrong size";
    }
    sample.hash = schedule_hash(sample.schedule.data(), stages);
    return "";
}

std::string read_header(Reader &reader, bool &reference_features) {
    const uint32_t magic = reader.u32(), version = reader.u32();
    const uint32_t pipeline_version = reader.u32(), schedule_version = reader.u32();
    const uint32_t flags = reader.u32();
    reader.u32();
    if (!reader.ok() || magic != kMagic) {
        return "it is no file of packed samples";
    }
    if (version != kFormatVersion) {
        return "it has version " + std::to_string(version) + " of the format instead of " +
               std::to_string(kFormatVersion);
    }
    if (pipeline_version != kAlgorithmFeaturesVersion ||
        schedule_version != kScheduleFeaturesVersion) {
        return "its features have the versions " + std::to_string(pipeline_version) + " and " +
               std::to_string(schedule_version) + " instead of " +
               std::to_string(kAlgorithmFeaturesVersion) + " and " +
               std::to_string(kScheduleFeaturesVersion);
    }
    reference_features = (flags & kReferenceFeatures) != 0;
    return "";
}

// Reads chunks up to the last one.
std::string read_chunks(Reader &reader, PackedSamples &result) {
    while (true) {
        const uint32_t kind = reader.u32(), size = reader.u32(), crc = reader.u32();
        const uint8_t *data = reader.take(size);
        if (data == nullptr) {
            return "it is cut off after " + std::to_string(result.samples.size()) + " samples";
        }
        if (crc32(data, size) != crc) {
            return "it is damaged after " + std::to_string(result.samples.size()) + " samples";
        }
        Reader chunk(data, size);
        std::string error;
        if (kind == PipelineChunk) {
            result.pipelines.emplace_back();
            error = read_pipeline(chunk, result.pipelines.back());
        } else if (kind == SampleChunk) {
            result.samples.emplace_back();
            error = read_sample(chunk, result.pipelines, result.samples.back());
        } else if (kind == EndChunk) {
            return chunk.u64() == result.samples.size() && reader.left() == 0
                       ? ""
                       : "its end does not match its content";
        } else {
            error = "it holds something unknown";
        }
        if (!error.empty()) {
            return error;
        }
    }
}

}  // namespace

uint32_t crc32(const void *data, size_t size) {
    static const std::array<uint32_t, 256> table = [] {
        std::array<uint32_t, 256> result{};
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
            }
            result[i] = crc;
        }
        return result;
    }();
    uint32_t crc = 0xffffffffu;
    const auto *bytes = static_cast<const uint8_t *>(data);
    for (size_t i = 0; i < size; i++) {
        crc = (crc >> 8) ^ table[(crc ^ bytes[i]) & 0xffu];
    }
    return ~crc;
}

std::vector<uint8_t> pack_samples(const PackedSamples &samples) {
    std::vector<uint8_t> bytes;
    append_u32(bytes, kMagic);
    append_u32(bytes, kFormatVersion);
    append_u32(bytes, kAlgorithmFeaturesVersion);
    append_u32(bytes, kScheduleFeaturesVersion);
    append_u32(bytes, samples.reference_features ? kReferenceFeatures : 0);
    append_u32(bytes, 0);
    for (const SampledPipeline &pipeline : samples.pipelines) {
        append_chunk(bytes, PipelineChunk, pipeline_chunk(pipeline));
    }
    for (const Sample &sample : samples.samples) {
        append_chunk(bytes, SampleChunk, sample_chunk(sample));
    }
    std::vector<uint8_t> count;
    append_u64(count, samples.samples.size());
    append_chunk(bytes, EndChunk, count);
    return bytes;
}

bool is_packed(const std::vector<uint8_t> &bytes) {
    return bytes.size() >= 4 && load_u32(bytes.data()) == kMagic;
}

std::string unpack_samples(const std::vector<uint8_t> &bytes, PackedSamples &result) {
    result = PackedSamples();
    if (bytes.empty()) {
        return "it is empty";
    }
    Reader reader(bytes.data(), bytes.size());
    PackedSamples read;
    std::string error = read_header(reader, read.reference_features);
    if (error.empty()) {
        error = read_chunks(reader, read);
    }
    if (error.empty()) {
        result = std::move(read);
    }
    return error;
}

std::string read_packed_samples(const std::string &path, PackedSamples &result) {
    // The reader sets aside as much memory as the limit says.
    std::error_code code;
    const auto size = std::filesystem::file_size(path, code);
    const BytesOrError content = read_file_bytes(path, code ? 0 : static_cast<size_t>(size));
    const std::string error =
        content.error.empty() ? unpack_samples(content.bytes, result) : content.error;
    return error.empty() ? "" : path + ": " + error;
}

std::string write_packed_samples(const std::string &path, const PackedSamples &samples) {
    const std::vector<uint8_t> bytes = pack_samples(samples);
    return replace_file(path, bytes.data(), bytes.size());
}

}  // namespace anderson2021
