// Trains the cost model on samples, or predicts their run times.
//
// Samples are .sample files, packed .samples files or directories of both, given as arguments or,
// without any (or with -), on standard input, one per line.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <unistd.h>

#include "costmodel/file_bytes.h"
#include "costmodel/weights.h"
#include "support/error.h"
#include "support/hash.h"
#include "tools/tool.h"
#include "training/run_log.h"
#include "training/teacher.h"
#include "training/trainer.h"

namespace anderson2021 {

namespace {

using Kind = FlagSpec::Kind;
namespace fs = std::filesystem;

const std::vector<FlagSpec> kSpecs = {
    {"epochs", Kind::Integer, true, "", "passes over the data, for each rate"},
    {"rates", Kind::Text, true, "", "learning rates, separated by blanks, one after the other"},
    {"weights_out", Kind::Text, true, "", "file (*.weights) or directory to be written"},
    {"best_benchmark", Kind::Text, true, "", "file for the line about the best sample, or empty"},
    {"best_schedule", Kind::Text, true, "", "file for the best sample's schedule, or empty"},
    {"predictions_file", Kind::Text, true, "", "not empty: predict only, into this file"},
    {"verbose", Kind::Boolean, true, "0", "1: list all that was skipped, and every pipeline"},
    {"partition_schedules", Kind::Boolean, true, "0", "1: hold out schedules, 0: pipelines"},
    {"limit", Kind::Integer, true, "0", "schedules per pipeline at most; 0: all"},
    {"num_cores", Kind::Integer, false, "0", "multiprocessors; 0: as the samples say, else 32"},
    {"initial_weights", Kind::Text, false, "", "weights to start with; empty: the built-in ones"},
    {"randomize_weights", Kind::Boolean, false, "0", "1: start with random weights"},
    {"reset_weights", Kind::Boolean, false, "0", "1: write random weights, do nothing else"},
    {"seed", Kind::Integer, false, "0", "of random weights and of the order of batches"},
    {"loss", Kind::Text, false, "throughput", "throughput, log, or terms (needs teachers)"},
    {"log_weight", Kind::Number, false, "1", "share of the logarithms in the loss `terms`"},
    {"teachers", Kind::Text, false, "", "weights files whose mean prediction is the run time"},
    {"exclude", Kind::Text, false, "", "pipelines to be left out, with all their variants"},
    {"units_per_step",
     Kind::Integer,
     false,
     "4",
     "groups of 16 schedules in one step, for other losses than throughput"},
    {"batches_per_step", Kind::Integer, false, "1", "batches of 64 schedules in one step"},
    {"mean_loss", Kind::Boolean, false, "0", "1: mean over the schedules instead of sum"},
    {"cosine", Kind::Boolean, false, "0", "1: let each rate fall to a hundredth"},
    {"standardize", Kind::Boolean, false, "0", "1: shift and scale inputs while training"},
    {"clip", Kind::Number, false, "1000000", "largest norm of a gradient; 0: any"},
    {"patience", Kind::Integer, false, "0", "epochs without a better held-out rate; 0: no end"},
    {"resume", Kind::Boolean, false, "0", "1: go on where <weights_out>.state was saved"},
    {"log", Kind::Text, false, "", "file for one line of JSON per epoch"},
    {"report", Kind::Text, false, "", "file for one line of JSON per pipeline"},
    {"cache", Kind::Text, false, "", "directory for packed copies of the samples read"},
    {"threads", Kind::Integer, false, "0", "threads; 0: all cores"},
};

// How often weights and state are saved, at most.
constexpr double kSecondsBetweenSaves = 1;
constexpr double kNegligibleLoss = 1e-5;
constexpr size_t kLargestState = size_t{1} << 20;
constexpr size_t kFewPipelines = 24;

void require_success(const std::string &error) {
    if (!error.empty()) {
        throw UserError(error);
    }
}

void write_text(const std::string &path, const std::string &text) {
    require_success(replace_file(path, text.data(), text.size()));
}

void write_weights(const Weights &weights, const std::string &path) {
    const bool is_file = path.size() >= 8 && path.compare(path.size() - 8, 8, ".weights") == 0;
    require_success(is_file ? write_weights_file(weights, path)
                            : write_weights_directory(weights, path));
}

Weights read_weights(const std::string &path) {
    std::error_code code;
    WeightsOrError read =
        fs::is_directory(path, code) ? read_weights_directory(path) : read_weights_file(path);
    if (!read.weights) {
        throw UserError(read.error);
    }
    return std::move(*read.weights);
}

// A line is the name of one file, or else several names separated by blanks.
std::vector<std::string> read_paths(const Flags &flags) {
    std::vector<std::string> paths;
    bool from_input = flags.words().empty();
    for (const std::string &word : flags.words()) {
        from_input = from_input || word == "-";
        if (word != "-") {
            paths.push_back(word);
        }
    }
    std::string line;
    while (from_input && std::getline(std::cin, line)) {
        std::error_code code;
        if (fs::exists(line, code)) {
            paths.push_back(line);
            continue;
        }
        for (const std::string &word : split_words(line)) {
            paths.push_back(word);
        }
    }
    return paths;
}

LossKind loss_kind(const Flags &flags) {
    const std::string &name = flags.text("loss");
    if (name == "throughput") {
        return LossKind::Throughput;
    }
    if (name == "log") {
        return LossKind::Log;
    }
    if (name != "terms") {
        throw UserError("--loss is \"" + name + "\", but has to be throughput, log or terms");
    }
    if (flags.text("teachers").empty()) {
        throw UserError("--loss=terms learns from teachers: give --teachers");
    }
    return LossKind::Terms;
}

TrainerOptions trainer_options(const Flags &flags) {
    TrainerOptions options;
    options.epochs = static_cast<int>(flags.integer("epochs"));
    options.rates.clear();
    for (const std::string &word : split_words(flags.text("rates"))) {
        options.rates.push_back(parse_number("--rates", word));
    }
    options.loss.kind = loss_kind(flags);
    options.loss.log_weight = static_cast<float>(flags.number("log_weight"));
    options.batches_per_step = static_cast<int>(flags.integer("batches_per_step"));
    options.units_per_step = static_cast<int>(flags.integer("units_per_step"));
    options.mean_loss = flags.boolean("mean_loss");
    options.cosine = flags.boolean("cosine");
    options.standardize = flags.boolean("standardize");
    options.clip = flags.number("clip");
    options.patience = static_cast<int>(flags.integer("patience"));
    options.seed = flags.integer("seed");
    return options;
}

void check_flags(const Flags &flags) {
    if (flags.text("weights_out").empty()) {
        throw UserError("--weights_out is empty");
    }
    if (flags.boolean("reset_weights")) {
        return;
    }
    if (flags.has("initial_weights") == flags.boolean("randomize_weights")) {
        throw UserError("give either --initial_weights or --randomize_weights=1");
    }
    if (flags.integer("epochs") < 1 || flags.integer("batches_per_step") < 1 ||
        flags.integer("units_per_step") < 1) {
        throw UserError("--epochs, --batches_per_step and --units_per_step have to be positive");
    }
    for (const char *name : {"limit", "num_cores", "patience", "threads"}) {
        if (flags.integer(name) < 0) {
            throw UserError(std::string("--") + name + " must not be negative");
        }
    }
    if (split_words(flags.text("rates")).empty()) {
        throw UserError("--rates is empty");
    }
}

class Run {
public:
    explicit Run(const Flags &flags)
        : flags_(flags), predicts_(!flags.text("predictions_file").empty()),
          pool_(static_cast<int>(flags.integer("threads"))) {}

    void run();

private:
    void load();
    void print_summary(const LoadReport &report) const;
    void keep_best(const LoadReport &report) const;
    void train(Trainer &trainer);
    void save(const Trainer &trainer) const;
    void write_predictions() const;
    uint64_t state_hash() const;

    const Flags &flags_;
    const bool predicts_;
    ThreadPool pool_;
    Weights weights_;
    std::vector<Weights> teachers_;
    TrainerOptions options_;
    Dataset dataset_;
    std::vector<Batch> training_, validation_;
    double loaded_ms_ = 0;
};

void Run::load() {
    const auto start = std::chrono::steady_clock::now();
    DatasetOptions options;
    options.partition_schedules = flags_.boolean("partition_schedules");
    options.num_cores = static_cast<int>(flags_.integer("num_cores"));
    options.limit = flags_.integer("limit");
    options.exclude = split_words(flags_.text("exclude"));
    options.needs_runtimes = teachers_.empty();
    options.cache = flags_.text("cache");
    options.threads = static_cast<int>(flags_.integer("threads"));
    LoadReport report;
    dataset_ = Dataset::load(read_paths(flags_), options, report);
    training_ = make_batches(dataset_, false, options.num_cores, pool_);
    validation_ = make_batches(dataset_, true, options.num_cores, pool_);
    if (!teachers_.empty()) {
        const bool with_targets = options_.loss.kind == LossKind::Terms;
        teach(training_, teachers_, with_targets, pool_);
        teach(validation_, teachers_, with_targets, pool_);
    }
    loaded_ms_ =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    print_summary(report);
    if (!predicts_) {
        keep_best(report);
    }
}

std::string best_line(const LoadReport &report) {
    char runtime[64];
    std::snprintf(runtime, sizeof(runtime), "%g", static_cast<double>(report.best_runtime));
    // Scripts take the twelfth word as the file.
    return std::string("Best runtime is ") + runtime + " msec, from schedule id " +
           std::to_string(report.best_schedule_id) + " in file " + report.best_name + "\n";
}

void Run::print_summary(const LoadReport &report) const {
    for (size_t i = 0; i < report.messages.size(); i++) {
        if (flags_.boolean("verbose") || i < 3) {
            std::fprintf(stderr, "Skipped: %s\n", report.messages[i].c_str());
        }
    }
    if (report.skipped_files + report.skipped_samples > 0) {
        std::fprintf(stderr,
                     "Warning: skipped %lld of %lld files and %lld of %lld samples\n",
                     static_cast<long long>(report.skipped_files),
                     static_cast<long long>(report.files),
                     static_cast<long long>(report.skipped_samples),
                     static_cast<long long>(report.samples));
    }
    std::printf("Samples loaded: %lld (%lld unique) in %.1f ms\n",
                static_cast<long long>(report.samples),
                static_cast<long long>(report.unique),
                loaded_ms_);
    if (report.cached_files > 0) {
        std::printf("From the cache: %lld files\n", static_cast<long long>(report.cached_files));
    }
    int64_t trained_on = 0, held_out = 0;
    for (const auto &pipeline : dataset_.pipelines) {
        trained_on += pipeline->training.empty() ? 0 : 1;
        held_out += pipeline->validation.empty() ? 0 : 1;
        const double noise = Dataset::noise_level(*pipeline);
        if (noise > 0) {
            std::printf("Noise level of %s: %g\n", pipeline->info.name.c_str(), noise);
        }
    }
    std::printf("Distinct pipelines: %lld\n", static_cast<long long>(trained_on + held_out));
    if (teachers_.empty()) {
        std::fputs(best_line(report).c_str(), stdout);
    }
    std::printf("Training set: %lld pipelines, %lld schedules\nValidation set: %lld pipelines, "
                "%lld schedules\n",
                static_cast<long long>(trained_on),
                static_cast<long long>(dataset_.num_schedules(false)),
                static_cast<long long>(held_out),
                static_cast<long long>(dataset_.num_schedules(true)));
}

void Run::keep_best(const LoadReport &report) const {
    const std::string &benchmark = flags_.text("best_benchmark");
    if (!benchmark.empty()) {
        write_text(benchmark, best_line(report));
    }
    const std::string &schedule = flags_.text("best_schedule");
    const std::string end = ".sample", &name = report.best_name;
    const size_t length = name.size() < end.size() ? 0 : name.size() - end.size();
    // Beside packed samples there are no schedules.
    if (schedule.empty() || name.compare(length, std::string::npos, end) != 0) {
        return;
    }
    const std::string source = name.substr(0, length) + ".schedule.h";
    const BytesOrError content = read_file_bytes(source, kLargestState);
    if (!content.error.empty()) {
        std::fprintf(stderr, "%s: %s\n", source.c_str(), content.error.c_str());
        return;
    }
    require_success(replace_file(schedule, content.bytes.data(), content.bytes.size()));
}

uint64_t Run::state_hash() const {
    uint64_t hash = dataset_.fingerprint();
    hash_combine(hash, options_.fingerprint());
    hash_combine(hash, weights_.checksum());
    hash_combine(hash, static_cast<uint64_t>(flags_.integer("num_cores")));
    return hash;
}

void Run::save(const Trainer &trainer) const {
    const std::string &path = flags_.text("weights_out");
    const std::vector<uint8_t> state = trainer.save_state(state_hash());
    require_success(replace_file(path + ".state", state.data(), state.size()));
    write_weights(trainer.result(), path);
}

void Run::train(Trainer &trainer) {
    const std::string state = flags_.text("weights_out") + ".state";
    std::error_code code;
    if (flags_.boolean("resume") && fs::exists(state, code)) {
        const BytesOrError content = read_file_bytes(state, kLargestState);
        const std::string error =
            content.error.empty() ? trainer.load_state(content.bytes, state_hash()) : content.error;
        if (!error.empty()) {
            throw UserError(state + ": " + error + "; remove it to start anew");
        }
        std::printf("Resumed after epoch %d\n", trainer.epochs_done());
    }
    std::FILE *log = nullptr;
    if (!flags_.text("log").empty()) {
        log = std::fopen(flags_.text("log").c_str(), "a");
        if (log == nullptr) {
            throw UserError("cannot write " + flags_.text("log"));
        }
    }
    const bool terminal = isatty(fileno(stderr)) != 0;
    double total_ms = 0;
    auto saved = std::chrono::steady_clock::now();
    while (!trainer.finished()) {
        const EpochReport report = trainer.run_epoch();
        total_ms += report.milliseconds;
        std::printf("%s\n", epoch_line(report, total_ms, dataset_.num_schedules(false)).c_str());
        if (log != nullptr) {
            std::fprintf(log, "%s\n", epoch_json(report).c_str());
            std::fflush(log);
        }
        if (terminal) {
            std::fprintf(stderr, "\repoch %d of %d", report.epoch, trainer.num_epochs());
        }
        const auto now = std::chrono::steady_clock::now();
        if (std::chrono::duration<double>(now - saved).count() >= kSecondsBetweenSaves) {
            save(trainer);
            saved = now;
        }
        if (report.training_loss < kNegligibleLoss) {
            std::printf("Zero loss, returning early\n");
            break;
        }
    }
    if (terminal) {
        std::fputc('\n', stderr);
    }
    const bool log_failed = log != nullptr && (std::ferror(log) != 0) | (std::fclose(log) != 0);
    save(trainer);
    if (log_failed) {
        throw UserError("cannot write " + flags_.text("log"));
    }
}

void Run::write_predictions() const {
    for (const bool validation : {false, true}) {
        std::string text;
        for (const auto &pipeline : dataset_.pipelines) {
            for (const DatasetEntry &entry :
                 validation ? pipeline->validation : pipeline->training) {
                char numbers[64];
                std::snprintf(numbers,
                              sizeof(numbers),
                              ", %g, %g\n",
                              static_cast<double>(entry.prediction),
                              static_cast<double>(entry.runtime()));
                text += entry.name + numbers;
            }
        }
        write_text(flags_.text("predictions_file") + (validation ? "_validation_set" : ""), text);
    }
}

void Run::run() {
    options_ = trainer_options(flags_);
    for (const std::string &path : split_words(flags_.text("teachers"))) {
        teachers_.push_back(read_weights(path));
    }
    const bool random = flags_.boolean("randomize_weights");
    if (random) {
        weights_ = Weights::random(static_cast<uint32_t>(options_.seed));
    } else {
        const std::string &path = flags_.text("initial_weights");
        weights_ = path.empty() ? builtin_weights() : read_weights(path);
    }
    load();
    if (predicts_) {
        options_.standardize = false;
    }
    Trainer trainer(training_, validation_, options_, pool_, weights_, random);
    if (!predicts_) {
        train(trainer);
    }
    trainer.predict();
    const std::vector<PipelineQuality> qualities = measure_quality(dataset_);
    const bool all = flags_.boolean("verbose") || qualities.size() <= kFewPipelines;
    std::fputs(quality_table(qualities, all ? qualities.size() : 0).c_str(), stdout);
    if (!flags_.text("report").empty()) {
        write_text(flags_.text("report"), quality_json(qualities));
    }
    if (predicts_) {
        write_predictions();
    }
}

int run(const Flags &flags) {
    check_flags(flags);
    if (flags.boolean("reset_weights")) {
        write_weights(Weights::random(static_cast<uint32_t>(flags.integer("seed"))),
                      flags.text("weights_out"));
        return 0;
    }
    Run(flags).run();
    return 0;
}

}  // namespace

}  // namespace anderson2021

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {
        "retrain_cost_model",
        "--epochs=N --rates=R --weights_out=FILE ... [options] [SAMPLES ...]",
        "Trains the cost model on samples, or predicts their run times. SAMPLES are packed "
        "samples, .sample files or folders of both; without any, or with -, their names are read "
        "from "
        "standard input.",
        anderson2021::kSpecs};
    return anderson2021::run_tool(tool, argc, argv, anderson2021::run);
}
