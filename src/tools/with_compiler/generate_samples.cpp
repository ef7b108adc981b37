// Writes samples: random schedules of generators and of random pipelines, with their features and
// the run times that given weights predict. All in one process, on all cores.
//
// A generator is found by name in the libraries given with --load: any generator's source compiled
// as a shared library. Words `name=value` set parameters of the generator, and with the prefix
// `autoscheduler.` options of the search.
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <unistd.h>

#include "Halide.h"

#include "costmodel/file_bytes.h"
#include "frontend/graph_builder.h"
#include "plugin/options_parser.h"
#include "support/error.h"
#include "tools/tool.h"
#include "tools/with_compiler/random_pipeline.h"
#include "tools/with_compiler/sampler.h"
#include "training/classic_samples.h"

namespace anderson2021 {

namespace {

using Kind = FlagSpec::Kind;

const std::vector<FlagSpec> kSpecs = {
    {"out", Kind::Text, true, "", "directory for <pipeline>.samples, made if need be"},
    {"generators", Kind::Text, false, "", "names of generators to be sampled"},
    {"load", Kind::Text, false, "", "shared libraries with generators"},
    {"random", Kind::Integer, false, "0", "number of random pipelines to be sampled"},
    {"first_random", Kind::Integer, false, "1", "seed of the first random pipeline"},
    {"count", Kind::Integer, true, "", "different schedules of each pipeline"},
    {"seed", Kind::Integer, false, "0", "first seed of the searches"},
    {"teachers", Kind::Text, false, "", "weights files whose mean prediction is the label"},
    {"guides", Kind::Text, false, "", "weights files that lead the searches (default: teachers)"},
    {"target", Kind::Text, false, "host-cuda-cuda_capability_70", "Halide target"},
    {"suffix", Kind::Text, false, "", "appended to the names of the files"},
    {"best",
     Kind::Boolean,
     false,
     "0",
     "1: whole searches, as the plugin does them, instead of random schedules"},
    {"classic", Kind::Boolean, false, "0", "1: one .sample file per schedule as well"},
    {"threads", Kind::Integer, false, "0", "threads; 0: all cores"},
    {"overwrite", Kind::Boolean, false, "0", "1: make files again that exist already"},
};

// Options of a search that goes anywhere, unless given otherwise.
const std::map<std::string, std::string> kSamplingDefaults = {{"parallelism", "80"},
                                                              {"beam_size", "1"},
                                                              {"random_dropout", "1"},
                                                              {"randomize_tilings", "1"},
                                                              {"num_passes", "1"}};

// Unlike a pipeline that cannot be sampled, a reason to stop.
struct WriteError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Job {
    std::string name;
    /// Generator, or seed of a random pipeline if empty.
    std::string generator;
    uint32_t seed = 0;
};

struct Setup {
    Halide::Target target;
    std::filesystem::path out;
    std::map<std::string, std::string> generator_parameters, search_parameters;
    std::vector<std::string> teacher_names;
    SamplingRequest request;
    bool classic = false, overwrite = false;
};

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + "\"";
}

std::string object(const std::map<std::string, std::string> &values) {
    std::string text;
    for (const auto &[name, value] : values) {
        text += (text.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
    }
    return "{" + text + "}";
}

std::vector<Weights> load_weights(const std::string &paths, std::vector<std::string> *names) {
    std::vector<Weights> result;
    for (const std::string &path : split_words(paths)) {
        WeightsOrError read = read_weights_file(path);
        if (!read.weights) {
            throw UserError(read.error);
        }
        char checksum[16];
        std::snprintf(checksum, sizeof(checksum), "%08x", read.weights->checksum());
        if (names != nullptr) {
            names->push_back(std::filesystem::path(path).filename().string() + ":" + checksum);
        }
        result.push_back(std::move(*read.weights));
    }
    return result;
}

Setup make_setup(const Flags &flags) {
    Setup setup;
    setup.target = Halide::Target(flags.text("target"));
    setup.out = flags.text("out");
    setup.classic = flags.boolean("classic");
    setup.overwrite = flags.boolean("overwrite");
    setup.request.whole_searches = flags.boolean("best");
    setup.search_parameters = kSamplingDefaults;
    if (setup.request.whole_searches) {
        setup.search_parameters = {{"parallelism", kSamplingDefaults.at("parallelism")}};
    }
    const std::string prefix = "autoscheduler.";
    for (const std::string &word : flags.words()) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos) {
            throw UserError(word + " is neither an option nor of the form name=value");
        }
        const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
        if (name.rfind(prefix, 0) == 0) {
            setup.search_parameters[name.substr(prefix.size())] = value;
        } else {
            setup.generator_parameters[name] = value;
        }
    }
    SamplingRequest &request = setup.request;
    const auto no_environment = [](const std::string &) { return std::nullopt; };
    request.options = parse_options(setup.search_parameters, no_environment);
    request.device = device_from_options(request.options);
    request.count = static_cast<int>(flags.integer("count"));
    request.first_seed = flags.integer("seed");
    request.threads = static_cast<int>(flags.integer("threads"));
    request.teachers = load_weights(flags.text("teachers"), &setup.teacher_names);
    request.guides = load_weights(flags.text("guides"), nullptr);
    if (request.guides.empty()) {
        request.guides = request.teachers;
    }
    if (request.guides.empty()) {
        request.guides.push_back(builtin_weights());
    }
    if (request.count < 1 || request.threads < 0 || request.first_seed < 0) {
        throw UserError("--count has to be positive, --seed and --threads not negative");
    }
    return setup;
}

std::vector<Halide::Internal::Function> functions_of(const Halide::Pipeline &pipeline) {
    std::vector<Halide::Internal::Function> result;
    for (const Halide::Func &f : pipeline.outputs()) {
        result.push_back(f.function());
    }
    return result;
}

Halide::Pipeline make_pipeline(const Job &job, const Setup &setup) {
    if (job.generator.empty()) {
        return Halide::Pipeline(make_random_pipeline(job.seed));
    }
    const Halide::AutoschedulerParams params("Anderson2021", setup.search_parameters);
    const auto generator = Halide::Internal::GeneratorRegistry::create(
        job.generator, Halide::GeneratorContext(setup.target, params));
    if (generator == nullptr) {
        throw UserError("there is no generator " + job.generator +
                        "; is its library given with --load?");
    }
    for (const auto &[name, value] : setup.generator_parameters) {
        generator->set_generatorparam_value(name, value);
    }
    return generator->build_pipeline();
}

std::string describe_origin(const Job &job, const Setup &setup) {
    std::string teachers;
    for (const std::string &name : setup.teacher_names) {
        teachers += (teachers.empty() ? "" : ", ") + quoted(name);
    }
    const std::string what = job.generator.empty()
                                 ? "\"random_pipeline\": " + std::to_string(job.seed)
                                 : "\"generator\": " + quoted(job.generator);
    return "{" + what + ", \"generator_parameters\": " + object(setup.generator_parameters) +
           ", \"search\": " + object(setup.search_parameters) +
           ", \"target\": " + quoted(setup.target.to_string()) +
           ", \"first_seed\": " + std::to_string(setup.request.first_seed) +
           ", \"label_source\": \"" + (setup.teacher_names.empty() ? "unknown" : "predicted") +
           "\", \"teachers\": [" + teachers + "]}";
}

void write(const std::filesystem::path &path, const PackedSamples &packed, bool classic) {
    if (classic) {
        const std::filesystem::path folder = std::filesystem::path(path).replace_extension();
        const std::string error = write_classic_samples(folder.string(), packed);
        if (!error.empty()) {
            throw WriteError(error);
        }
    }
    // Last, since it marks the pipeline as done.
    const std::string error = write_packed_samples(path.string(), packed);
    if (!error.empty()) {
        throw WriteError(error);
    }
}

// Returns the number of samples, and the first one's label and prediction.
struct Outcome {
    size_t count = 0;
    float label = 0, prediction = 0;
};

Outcome run_job(const Job &job, const Setup &setup, SamplingStatistics &statistics) {
    const Halide::Pipeline pipeline = make_pipeline(job, setup);
    const BuiltGraph built = build_graph(functions_of(pipeline), setup.target);
    PackedSamples packed;
    packed.reference_features = setup.request.options.reference_features != 0;
    packed.samples = sample_schedules(*built.graph, setup.request, statistics);
    packed.pipelines.push_back(describe_pipeline(*built.graph, setup.request.device.num_sms));
    packed.pipelines[0].name = job.name;
    packed.pipelines[0].id = static_cast<int32_t>(packed.pipelines[0].hash & 0x7fffffff);
    packed.pipelines[0].origin = describe_origin(job, setup);
    write(setup.out / (job.name + ".samples"), packed, setup.classic);
    Outcome outcome;
    outcome.count = packed.samples.size();
    if (outcome.count > 0) {
        outcome.label = packed.samples[0].runtime;
        outcome.prediction = packed.samples[0].prediction;
    }
    return outcome;
}

std::vector<Job> list_jobs(const Flags &flags) {
    std::vector<Job> jobs;
    const std::string suffix = flags.text("suffix");
    for (const std::string &name : split_words(flags.text("generators"))) {
        jobs.push_back({name + suffix, name, 0});
    }
    const int64_t first = flags.integer("first_random"), count = flags.integer("random");
    for (int64_t i = 0; i < count; i++) {
        const auto seed = static_cast<uint32_t>(first + i);
        jobs.push_back({"random_" + std::to_string(seed) + suffix, "", seed});
    }
    if (jobs.empty()) {
        throw UserError("nothing to do: give --generators or --random");
    }
    return jobs;
}

int run(const Flags &flags) {
    for (const std::string &library : split_words(flags.text("load"))) {
        // Stays loaded, for the generators inside are registered.
        if (dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
            throw UserError(std::string("cannot load ") + dlerror());
        }
    }
    const Setup setup = make_setup(flags);
    const std::vector<Job> jobs = list_jobs(flags);
    std::error_code code;
    std::filesystem::create_directories(setup.out, code);
    if (code) {
        throw UserError("cannot create " + setup.out.string() + ": " + code.message());
    }
    int failures = 0;
    for (size_t i = 0; i < jobs.size(); i++) {
        const Job &job = jobs[i];
        if (!setup.overwrite && std::filesystem::exists(setup.out / (job.name + ".samples"))) {
            std::printf("{\"pipeline\": %s, \"skipped\": true}\n", quoted(job.name).c_str());
            continue;
        }
        SamplingStatistics statistics;
        const auto report = [&](const std::string &rest) {
            std::printf("{\"pipeline\": %s, \"job\": %zu, \"of\": %zu, %s}\n",
                        quoted(job.name).c_str(),
                        i + 1,
                        jobs.size(),
                        rest.c_str());
            std::fflush(stdout);
        };
        try {
            const Outcome outcome = run_job(job, setup, statistics);
            char text[320];
            std::snprintf(text,
                          sizeof(text),
                          "\"samples\": %zu, \"searches\": %lld, \"duplicates\": %lld, "
                          "\"failures\": %lld, \"seconds\": %.3f, \"first_label_ms\": %.9g, "
                          "\"first_prediction_ms\": %.9g",
                          outcome.count,
                          static_cast<long long>(statistics.searches),
                          static_cast<long long>(statistics.duplicates),
                          static_cast<long long>(statistics.failures),
                          statistics.seconds,
                          static_cast<double>(outcome.label),
                          static_cast<double>(outcome.prediction));
            report(text);
        } catch (const WriteError &) {
            throw;
        } catch (const std::exception &error) {
            // Among many random pipelines some may be too odd. A generator was asked for by name.
            if (!job.generator.empty()) {
                throw;
            }
            failures++;
            report("\"error\": " + quoted(error.what()));
        }
    }
    if (failures != 0) {
        std::fprintf(stderr, "%d of %zu pipelines could not be sampled\n", failures, jobs.size());
    }
    return failures == static_cast<int>(jobs.size()) ? 1 : 0;
}

}  // namespace

}  // namespace anderson2021

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {"generate_samples",
                                         "--out=DIR --count=N [options] [NAME=VALUE ...]",
                                         "Makes samples: random schedules of generators and of "
                                         "random pipelines, with their features "
                                         "and the run times that given weights predict. NAME=VALUE "
                                         "sets a parameter of the generators, "
                                         "autoscheduler.NAME=VALUE an option of the search.",
                                         anderson2021::kSpecs};
    return anderson2021::run_tool(tool, argc, argv, anderson2021::run);
}
