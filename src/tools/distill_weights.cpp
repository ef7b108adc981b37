// Makes weights that predict what given weights (the teachers) predict, by learning from them.
//
// The samples, packed files or .sample files or directories of both, only say what stages and
// schedules look like: see training/stage_mixer.h. Their run times do not matter. An interrupted
// run goes on where it was.
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <unistd.h>

#include "costmodel/file_bytes.h"
#include "costmodel/weights.h"
#include "support/error.h"
#include "support/hash.h"
#include "tools/tool.h"
#include "training/distiller.h"
#include "training/run_log.h"

namespace anderson2021 {

namespace {

using Kind = FlagSpec::Kind;
namespace fs = std::filesystem;

const std::vector<FlagSpec> kSpecs = {
    {"teachers", Kind::Text, true, "", "weights files whose mean coefficients are learnt"},
    {"weights_out", Kind::Text, true, "", "file to be written; its state goes to <file>.state"},
    {"initial_weights", Kind::Text, false, "", "weights to start with; empty: random ones"},
    {"exclude", Kind::Text, false, "", "pipelines to be left out, with all their variants"},
    {"limit", Kind::Integer, false, "100", "schedules per pipeline at most; 0: all"},
    {"rows", Kind::Integer, false, "60000", "stages of schedules to mix from, at most"},
    {"unmixed", Kind::Number, false, "0.05", "share of stages that stay as they are"},
    {"cost_weight", Kind::Number, false, "0", "more weight for what costs, in unmixed stages"},
    {"steps", Kind::Integer, false, "5000", "how many steps"},
    {"units_per_step", Kind::Integer, false, "256", "groups of 16 schedules of a stage"},
    {"rate", Kind::Number, false, "0.02", "learning rate, which rises and falls again"},
    {"warm_up", Kind::Integer, false, "300", "steps in which the rate rises"},
    {"seed", Kind::Integer, false, "0", "of random weights and stages"},
    {"report_every", Kind::Integer, false, "100", "steps"},
    {"resume", Kind::Boolean, false, "0", "1: go on where <weights_out>.state was saved"},
    {"log", Kind::Text, false, "", "file for one line of JSON per report"},
    {"threads", Kind::Integer, false, "0", "threads; 0: all cores"},
};

constexpr size_t kLargestState = size_t{1} << 20;
// How often the state is saved, at most.
constexpr double kSecondsBetweenSaves = 1;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void require_success(const std::string &error) {
    if (!error.empty()) {
        throw UserError(error);
    }
}

Weights read_weights(const std::string &path) {
    WeightsOrError read = read_weights_file(path);
    if (!read.weights) {
        throw UserError(read.error);
    }
    return std::move(*read.weights);
}

void check_flags(const Flags &flags) {
    for (const char *name : {"rows", "steps", "units_per_step", "report_every"}) {
        if (flags.integer(name) < 1) {
            throw UserError(std::string("--") + name + " has to be positive");
        }
    }
    for (const char *name : {"limit", "warm_up", "threads"}) {
        if (flags.integer(name) < 0) {
            throw UserError(std::string("--") + name + " must not be negative");
        }
    }
    if (!(flags.number("rate") > 0)) {
        throw UserError("--rate has to be positive");
    }
    if (!(flags.number("cost_weight") >= 0)) {
        throw UserError("--cost_weight must not be negative");
    }
    if (!(flags.number("unmixed") >= 0 && flags.number("unmixed") <= 1)) {
        throw UserError("--unmixed has to be between 0 and 1");
    }
    for (const char *name : {"teachers", "weights_out"}) {
        if (split_words(flags.text(name)).empty()) {
            throw UserError(std::string("--") + name + " is empty");
        }
    }
    if (flags.words().empty()) {
        throw UserError("There are no samples: give files or directories");
    }
}

class Run {
public:
    explicit Run(const Flags &flags)
        : flags_(flags), out_(flags.text("weights_out")),
          pool_(static_cast<int>(flags.integer("threads"))) {
        for (const std::string &path : split_words(flags.text("teachers"))) {
            teachers_.push_back(read_weights(path));
            hash_combine(hash_, teachers_.back().checksum());
        }
        if (!flags.text("initial_weights").empty()) {
            initial_.push_back(read_weights(flags.text("initial_weights")));
            hash_combine(hash_, initial_.back().checksum());
        }
    }

    void run();

private:
    Dataset load() const;
    DistillerOptions distiller_options() const;
    void resume(Distiller &distiller) const;
    void train(Distiller &distiller) const;
    void save(const Distiller &distiller) const;

    const Flags &flags_;
    const std::string out_;
    ThreadPool pool_;
    std::vector<Weights> teachers_, initial_;
    uint64_t hash_ = 0;
};

Dataset Run::load() const {
    DatasetOptions options;
    options.limit = flags_.integer("limit");
    options.exclude = split_words(flags_.text("exclude"));
    options.needs_runtimes = false;
    options.threads = static_cast<int>(flags_.integer("threads"));
    LoadReport report;
    Dataset dataset = Dataset::load(flags_.words(), options, report);
    for (size_t i = 0; i < report.messages.size() && i < 3; i++) {
        std::fprintf(stderr, "Skipped: %s\n", report.messages[i].c_str());
    }
    if (report.skipped_files + report.skipped_samples > 0) {
        std::fprintf(stderr,
                     "Warning: skipped %lld files and %lld samples\n",
                     static_cast<long long>(report.skipped_files),
                     static_cast<long long>(report.skipped_samples));
    }
    std::printf("Samples: %lld pipelines, %lld schedules\n",
                static_cast<long long>(dataset.pipelines.size()),
                static_cast<long long>(dataset.num_schedules(false) + dataset.num_schedules(true)));
    return dataset;
}

DistillerOptions Run::distiller_options() const {
    DistillerOptions options;
    options.steps = flags_.integer("steps");
    options.units_per_step = flags_.integer("units_per_step");
    options.rate = flags_.number("rate");
    options.warm_up = flags_.integer("warm_up");
    options.seed = flags_.integer("seed");
    options.cost_weight = flags_.number("cost_weight");
    return options;
}

void Run::resume(Distiller &distiller) const {
    const std::string path = out_ + ".state";
    std::error_code code;
    if (!flags_.boolean("resume") || !fs::exists(path, code)) {
        return;
    }
    const BytesOrError content = read_file_bytes(path, kLargestState);
    const std::string error =
        content.error.empty() ? distiller.load_state(content.bytes, hash_) : content.error;
    if (!error.empty()) {
        throw UserError(path + ": " + error + "; remove it to start anew");
    }
    std::printf("Resumed after step %lld\n", static_cast<long long>(distiller.steps_done()));
}

void Run::save(const Distiller &distiller) const {
    const std::vector<uint8_t> state = distiller.save_state(hash_);
    require_success(replace_file(out_ + ".state", state.data(), state.size()));
    require_success(write_weights_file(distiller.result(), out_));
}

void Run::train(Distiller &distiller) const {
    std::FILE *log = nullptr;
    if (!flags_.text("log").empty()) {
        log = std::fopen(flags_.text("log").c_str(), "a");
        if (log == nullptr) {
            throw UserError("cannot write " + flags_.text("log"));
        }
    }
    auto saved = Clock::now();
    while (!distiller.finished()) {
        const auto start = Clock::now();
        const double loss = distiller.run(flags_.integer("report_every"));
        const double ms = seconds_since(start) * 1e3, error = distiller.held_out_error();
        const auto step = static_cast<long long>(distiller.steps_done());
        std::printf("Step: %lld  Loss: %g  Held-out error: %g  Rate: %g\n",
                    step,
                    loss,
                    error,
                    distiller.rate());
        std::fflush(stdout);
        if (log != nullptr) {
            std::fprintf(log,
                         "{\"step\": %lld, \"loss\": %s, \"validation_loss\": %s, "
                         "\"milliseconds\": %s}\n",
                         step,
                         json_number(loss).c_str(),
                         json_number(error).c_str(),
                         json_number(ms).c_str());
            std::fflush(log);
        }
        if (seconds_since(saved) >= kSecondsBetweenSaves) {
            save(distiller);
            saved = Clock::now();
        }
    }
    const bool log_failed = log != nullptr && (std::ferror(log) != 0) | (std::fclose(log) != 0);
    save(distiller);
    if (log_failed) {
        throw UserError("cannot write " + flags_.text("log"));
    }
}

void Run::run() {
    const DistillerOptions options = distiller_options();
    MixerOptions mixing;
    mixing.rows = flags_.integer("rows");
    mixing.unmixed = flags_.number("unmixed");
    mixing.seed = options.seed;
    const Dataset dataset = load();
    hash_combine(hash_, dataset.fingerprint());
    hash_combine(hash_, options.fingerprint());
    hash_combine(hash_, static_cast<uint64_t>(mixing.rows));
    hash_combine(hash_, static_cast<uint64_t>(mixing.unmixed * 1e9));
    const StageMixer mixer(dataset, mixing);
    std::printf("Stages to mix from: %lld\n", static_cast<long long>(mixer.num_rows()));
    Distiller distiller(
        mixer, teachers_, initial_.empty() ? nullptr : &initial_.front(), options, pool_);
    resume(distiller);
    train(distiller);
}

int run(const Flags &flags) {
    check_flags(flags);
    Run(flags).run();
    return 0;
}

}  // namespace

}  // namespace anderson2021

int main(int argc, char **argv) {
    const anderson2021::ToolInfo tool = {
        "distill_weights",
        "--teachers=FILE,... --weights_out=FILE [options] SAMPLES ...",
        "Makes weights that predict what other weights, the teachers, predict. SAMPLES are packed "
        "samples, .sample files or folders of both; they only show what stages and schedules look "
        "like, their run times do not matter.",
        anderson2021::kSpecs};
    return anderson2021::run_tool(tool, argc, argv, anderson2021::run);
}
