#include "reader_targets.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "costmodel/file_bytes.h"
#include "costmodel/weights.h"
#include "features/feature_io.h"
#include "features/schedule_features.h"
#include "graph_fixtures.h"
#include "plugin/options_parser.h"
#include "schedule/schedule_parser.h"
#include "schedule/schedule_rebuilder.h"
#include "schedule/schedule_text.h"
#include "schedule_fixtures.h"
#include "support/error.h"
#include "tools/flags.h"
#include "training/classic_samples.h"
#include "training/packed_samples.h"
#include "training/state_bytes.h"

namespace anderson2021 {
namespace test {
namespace {

void require(bool condition, const char *what) {
    if (!condition) {
        std::fprintf(stderr, "reader broke its promise: %s\n", what);
        std::abort();
    }
}

Bytes bytes_of(const std::string &text) {
    return {text.begin(), text.end()};
}

std::string text_of(const Bytes &bytes) {
    return {bytes.begin(), bytes.end()};
}

// Weights.

void read_weights(const Bytes &bytes) {
    const WeightsOrError read = parse_weights(bytes.data(), bytes.size(), "input");
    require(read.weights.has_value() == read.error.empty(), "weights or a reason");
    if (read.weights) {
        for (const std::vector<float> *buffer : read.weights->buffers()) {
            for (const float value : *buffer) {
                require(std::isfinite(value), "finite weights");
            }
        }
        require(serialize_weights(*read.weights) == bytes, "weights are written as they were");
    }
}

std::vector<Bytes> weights_seeds() {
    return {serialize_weights(builtin_weights()), serialize_weights(Weights::random(1)), {}};
}

// Samples.

PackedSamples small_samples() {
    PackedSamples samples;
    for (int p = 0; p < 2; p++) {
        SampledPipeline pipeline;
        pipeline.name = p == 0 ? "blur" : "";
        pipeline.id = p;
        pipeline.num_stages = 1 + p;
        pipeline.num_cores = 80;
        pipeline.origin = "{\"seed\": 1}";
        pipeline.algorithm.assign(
            static_cast<size_t>(pipeline.num_stages) * kNumAlgorithmFeaturesPerRecord, 2.0f);
        samples.pipelines.push_back(pipeline);
        Sample sample;
        sample.pipeline = static_cast<uint32_t>(p);
        sample.schedule_id = 7;
        sample.source = LabelSource::Predicted;
        sample.runtime = 1.5f;
        sample.schedule.assign(static_cast<size_t>(pipeline.num_stages) * kNumScheduleFeatures,
                               3.0f);
        samples.samples.push_back(sample);
    }
    return samples;
}

void read_packed(const Bytes &bytes) {
    PackedSamples read;
    if (!unpack_samples(bytes, read).empty()) {
        require(read.pipelines.empty() && read.samples.empty(), "nothing is left of bad samples");
        return;
    }
    for (const Sample &sample : read.samples) {
        require(sample.pipeline < read.pipelines.size(), "samples belong to pipelines");
        require(label_source_name(sample.source) != nullptr, "sources have names");
        (void)sample_fault(sample);
    }
    PackedSamples again;
    require(unpack_samples(pack_samples(read), again).empty(), "samples can be written");
    require(again.samples.size() == read.samples.size(), "as many samples as before");
}

std::vector<Bytes> packed_seeds() {
    return {pack_samples(small_samples()), pack_samples({}), {}};
}

// Up to the first chunk that does not fit.
void repair_packed(Bytes &bytes) {
    constexpr size_t kHeader = 24, kChunkHeader = 12;
    for (size_t at = kHeader; at + kChunkHeader <= bytes.size();) {
        const size_t size = load_u32(bytes.data() + at + 4);
        if (size > bytes.size() - at - kChunkHeader) {
            return;
        }
        const uint32_t crc = crc32(bytes.data() + at + kChunkHeader, size);
        for (size_t i = 0; i < 4; i++) {
            bytes[at + 8 + i] = static_cast<uint8_t>(crc >> (8 * i));
        }
        at += kChunkHeader + size;
    }
}

void read_classic(const Bytes &bytes) {
    ClassicSample read;
    if (!parse_classic_sample(bytes, read).empty()) {
        return;
    }
    require(read.pipeline.num_stages > 0, "a sample has stages");
    require(classic_sample_bytes(read.pipeline, read.sample) == bytes, "samples are as written");
    (void)sample_fault(read.sample);
}

std::vector<Bytes> classic_seeds() {
    const PackedSamples samples = small_samples();
    return {classic_sample_bytes(samples.pipelines[0], samples.samples[0]),
            classic_sample_bytes(samples.pipelines[1], samples.samples[1]),
            {}};
}

void read_features(const Bytes &bytes) {
    std::string error;
    const auto records = read_featurization(bytes, error);
    require(records.has_value() == error.empty(), "features or a reason");
    require(!records || records->size() * kBytesPerRecord == bytes.size(), "whole records");
}

std::vector<Bytes> feature_seeds() {
    return {Bytes(kBytesPerRecord, 0), Bytes(3 * kBytesPerRecord, 0x3f), {}};
}

// States of training runs.

constexpr uint32_t kStateKind = 0x12345678, kStateVersion = 3;

void read_state(const Bytes &bytes) {
    StateReader reader(bytes, kStateKind, kStateVersion);
    if (reader.fault(bytes.size()).empty()) {
        Weights weights;
        // The size that the next lines need.
        if (bytes.size() == 8 + 16 + 20320 + 4) {
            reader.next();
            (void)reader.next_double();
            reader.next(weights);
        }
    }
}

std::vector<Bytes> state_seeds() {
    return {StateWriter(kStateKind, kStateVersion)
                .add(uint64_t{5})
                .add(0.5)
                .add(builtin_weights())
                .finish(),
            StateWriter(kStateKind, kStateVersion).finish()};
}

void repair_state(Bytes &bytes) {
    if (bytes.size() >= 12) {
        const uint32_t crc = crc32(bytes.data(), bytes.size() - 4);
        for (size_t i = 0; i < 4; i++) {
            bytes[bytes.size() - 4 + i] = static_cast<uint8_t>(crc >> (8 * i));
        }
    }
}

// Schedule trees.

void read_schedule(const Bytes &bytes) {
    static const Pipeline pipeline(mat_mul_graph(1024));
    static const LoopNestPtr tree = pipeline.tree(kMatMulInBlock);
    try {
        const ParsedSchedule read = parse_schedule(text_of(bytes), "input");
        std::string mismatch;
        const bool fits = matches(read, *tree, pipeline.graph, &mismatch);
        require(fits == mismatch.empty(), "a mismatch has a reason");
        check_func_names(read, pipeline.graph);
        const std::string text =
            print_schedule(*rebuild_schedule(read, pipeline.editor), pipeline.graph);
        const ParsedSchedule again = parse_schedule(text, "printed");
        require(print_schedule(*rebuild_schedule(again, pipeline.editor), pipeline.graph) == text,
                "a tree is printed and rebuilt as it was");
    } catch (const UserError &) {
        // What is expected of most inputs.
    }
}

std::vector<Bytes> schedule_seeds() {
    return {bytes_of(kMatMulAtRoot),
            bytes_of(kMatMulInBlock),
            bytes_of(kMatMulInThread),
            bytes_of(kHarrisFused),
            bytes_of("# a comment\nrealize: f [] with 1 stages\ninlined: g 4\n")};
}

// Options: lines name=value; a line that starts with $ sets a variable.

void read_options(const Bytes &bytes) {
    std::map<std::string, std::string> parameters, variables;
    const std::string text = text_of(bytes);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        const size_t equals = std::min(line.find('='), line.size());
        const std::string value = equals < line.size() ? line.substr(equals + 1) : "";
        const bool is_variable = !line.empty() && line[0] == '$';
        if (is_variable) {
            variables[line.substr(1, std::max<size_t>(equals, 1) - 1)] = value;
        } else {
            parameters[line.substr(0, equals)] = value;
        }
        at = end + 1;
    }
    try {
        const Options o =
            parse_options(parameters, [&](const std::string &name) -> std::optional<std::string> {
                const auto found = variables.find(name);
                return found == variables.end() ? std::nullopt
                                                : std::optional<std::string>(found->second);
            });
        require(o.beam_size >= 1 && o.parallelism >= 1 && o.parallelism <= 65536, "ranges hold");
        require(o.stack_factor >= 0 && o.stack_factor <= 1, "ranges hold");
        require(o.time_limit_s >= 0 && std::isfinite(o.time_limit_s), "ranges hold");
        const GpuDevice device = device_from_options(o);
        require(device.shared_bytes_per_block >= 1024 && device.num_sms >= 1, "a device");
        require(!describe_options(o).empty(), "a description");
        (void)o.allow_compute_root();
    } catch (const UserError &) {
        // What is expected of most inputs.
    }
}

std::vector<Bytes> option_seeds() {
    std::vector<Bytes> seeds{bytes_of("gpu=t4\nbeam_size=3\n$HL_SEED=7\n"), {}};
    std::string all;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    all += #name "=1\n";                                                                           \
    seeds.push_back(bytes_of(#name "=" #default_value "\n"));                                      \
    if (environment[0] != '\0') {                                                                  \
        seeds.push_back(bytes_of("$" environment "=" #default_value "\n"));                        \
    }
#include "support/options.def"
#undef ANDERSON_OPTION
    seeds.push_back(bytes_of(all));
    return seeds;
}

// Command lines of the tools: words between blanks.

void read_flags(const Bytes &bytes) {
    using Kind = FlagSpec::Kind;
    Flags flags({{"rate", Kind::Number, false, "0.5", "a number"},
                 {"epochs", Kind::Integer, false, "3", "an integer"},
                 {"verbose", Kind::Boolean, false, "0", "a boolean"},
                 {"out", Kind::Text, true, "", "a text"}});
    std::vector<std::string> words{"program"};
    try {
        for (const std::string &word : split_words(text_of(bytes))) {
            words.push_back(word.c_str());
        }
        std::vector<const char *> argv;
        for (const std::string &word : words) {
            argv.push_back(word.c_str());
        }
        flags.parse(static_cast<int>(argv.size()), argv.data());
        if (!flags.wants_help()) {
            (void)flags.integer("epochs");
            require(std::isfinite(flags.number("rate")), "finite numbers");
            (void)flags.boolean("verbose");
            (void)flags.text("out");
        }
    } catch (const UserError &) {
        // What is expected of most inputs.
    }
}

std::vector<Bytes> flag_seeds() {
    return {bytes_of("--out=x --rate 1e-3 --epochs=5 word"),
            bytes_of("--help"),
            bytes_of("--out x --verbose=1 --rate=-5"),
            {}};
}

}  // namespace

const std::vector<ReaderTarget> &reader_targets() {
    static const std::vector<ReaderTarget> targets = {
        {"weights", read_weights, weights_seeds, nullptr},
        {"packed_samples", read_packed, packed_seeds, repair_packed},
        {"classic_sample", read_classic, classic_seeds, nullptr},
        {"featurization", read_features, feature_seeds, nullptr},
        {"training_state", read_state, state_seeds, repair_state},
        {"schedule", read_schedule, schedule_seeds, nullptr},
        {"options", read_options, option_seeds, nullptr},
        {"flags", read_flags, flag_seeds, nullptr},
    };
    return targets;
}

}  // namespace test
}  // namespace anderson2021

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    using namespace anderson2021::test;
    if (size == 0) {
        return 0;
    }
    const ReaderTarget &target = reader_targets()[data[0] % reader_targets().size()];
    Bytes bytes(data + 1, data + size);
    if (target.repair != nullptr && data[0] >= 128) {
        target.repair(bytes);
    }
    target.read(bytes);
    return 0;
}
