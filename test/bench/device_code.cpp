// Linked with the source of a generator: compiles its pipeline to device code, many times.
//
//   PROGRAM GENERATOR PLUGIN|- TARGET FOLDER SECONDS MEGABYTES [<parameter>=<value> ...]
//
// Every line of stdin is a job: a name, then further <parameter>=<value> words; those that start
// with `autoscheduler` go to the autoscheduler. Each job runs in a process of its own with the
// given limits of CPU time and address space, and leaves in FOLDER
//   <job>.ptx             the device code
//   <job>.launches.json   how the host launches the kernels
//   <job>.featurization   the features of an autoscheduled pipeline
//   <job>.schedule.txt    its schedule as C++
//   <job>.log             the end of what was printed to stderr
// When a job is done, a line `<job> <wait status> <seconds>` goes to stdout.
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "Halide.h"

#include "log_tail.h"

namespace {

using Halide::cast;
using Halide::Expr;
using namespace Halide::Internal;

struct Settings {
    std::string generator, plugin, target, folder;
    rlim_t seconds = 0, megabytes = 0;
    std::vector<std::string> parameters;
};

std::string text_of(const Expr &expr) {
    std::ostringstream out;
    out << expr;
    std::string result;
    for (const char c : out.str()) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return "\"" + result + "\"";
}

std::string list_of(const std::vector<Expr> &values) {
    std::string result;
    for (const Expr &value : values) {
        result += (result.empty() ? "" : ", ") + text_of(simplify(value));
    }
    return "[" + result + "]";
}

// Values of expressions of the host's code when every argument is as estimated, or, with a
// factor, when buffers are that much larger: in all dimensions but those of a few entries, which
// are channels and the like.
class AtEstimates : public IRMutator {
public:
    AtEstimates(const LoweredFunc &function, int factor) {
        constexpr int64_t few = 4;
        for (const LoweredArgument &argument : function.args) {
            const Expr &scalar = argument.argument_estimates.scalar_estimate;
            if (argument.is_scalar() && scalar.defined()) {
                known_[argument.name] = scalar;
            }
            const Halide::Region &region = argument.argument_estimates.buffer_estimates;
            for (size_t d = 0; d < region.size(); d++) {
                const auto extent = as_const_int(simplify(region[d].extent));
                const int64_t value = extent ? *extent : 0;
                const std::string name = argument.name + ".buffer/" + std::to_string(d);
                extents_[name] = make_const(Halide::Int(32), value > few ? value * factor : value);
                mins_[name] = region[d].min;
            }
        }
    }

    void bind(const std::string &name, const Expr &value) { known_[name] = mutate(value); }

    // In decimal, or "" if it depends on something else.
    std::string text(const Expr &expr) {
        const auto value = as_const_int(simplify(mutate(expr)));
        return value ? std::to_string(*value) : "";
    }

protected:
    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        const auto found = known_.find(op->name);
        return found == known_.end() ? Expr(op) : found->second;
    }

    Expr visit(const Let *op) override {
        bind(op->name, op->value);
        return mutate(op->body);
    }

    Expr visit(const Call *op) override {
        const bool extent = op->name == Call::buffer_get_extent;
        if (extent || op->name == Call::buffer_get_min) {
            const Variable *const buffer = op->args[0].as<Variable>();
            const auto d = as_const_int(op->args[1]);
            const auto &values = extent ? extents_ : mins_;
            if (buffer != nullptr && d) {
                const auto found = values.find(buffer->name + "/" + std::to_string(*d));
                if (found != values.end() && found->second.defined()) {
                    return found->second;
                }
            }
        }
        return simplify(IRMutator::visit(op));
    }

private:
    std::map<std::string, Expr> known_, extents_, mins_;
};

// Finds the calls of the runtime that launch kernels, with the loops around them, and the buffers
// that the host allocates.
class LaunchFinder : public IRVisitor {
public:
    explicit LaunchFinder(const LoweredFunc &function)
        : estimated_(function, 1), doubled_(function, 2) {}

    std::string json() const {
        return "{\"launches\": [" + launches_ + "],\n \"allocations\": [" + allocations_ +
               "],\n \"other_allocations\": [" + other_allocations_ + "]}\n";
    }

protected:
    using IRVisitor::visit;

    void visit(const LetStmt *op) override {
        estimated_.bind(op->name, op->value);
        doubled_.bind(op->name, op->value);
        IRVisitor::visit(op);
    }

    // Of a condition that is known at the estimates, one case only will run.
    void visit(const IfThenElse *op) override {
        const std::string condition = estimated_.text(cast<int>(op->condition));
        const bool around = taken_;
        taken_ = around && condition != "0";
        op->then_case.accept(this);
        taken_ = around && condition != "1";
        if (op->else_case.defined()) {
            op->else_case.accept(this);
        }
        taken_ = around;
    }

    void visit(const For *op) override {
        loops_.push_back(op->extent);
        IRVisitor::visit(op);
        loops_.pop_back();
    }

    void visit(const Allocate *op) override {
        std::string &names = taken_ ? allocations_ : other_allocations_;
        names += (names.empty() ? "\"" : ", \"") + op->name + "\"";
        IRVisitor::visit(op);
    }

    void visit(const Call *op) override {
        IRVisitor::visit(op);
        if (op->name != "halide_cuda_run") {
            return;
        }
        size_t name = 0;
        while (name < op->args.size() && op->args[name].as<StringImm>() == nullptr) {
            name++;
        }
        if (name + 7 >= op->args.size()) {
            throw std::logic_error("halide_cuda_run has unexpected arguments");
        }
        const auto from = op->args.begin() + static_cast<std::ptrdiff_t>(name);
        launches_ += (launches_.empty() ? "{" : ",\n  {");
        launches_ += "\"kernel\": \"" + op->args[name].as<StringImm>()->value + "\", ";
        launches_ += "\"grid\": " + list_of({from + 1, from + 4}) + ", ";
        launches_ += "\"threads\": " + list_of({from + 4, from + 7}) + ", ";
        const Expr shared = op->args[name + 7];
        launches_ += "\"shared\": " + text_of(simplify(shared)) + ", ";
        launches_ += "\"shared_at_estimates\": \"" + estimated_.text(shared) + "\", ";
        launches_ += "\"shared_at_doubled\": \"" + doubled_.text(shared) + "\", ";
        launches_ += "\"loops\": " + list_of(loops_) + ", ";
        launches_ += std::string("\"taken_at_estimates\": ") + (taken_ ? "true, " : "false, ");
        std::vector<Expr> extents;
        for (const Expr &loop : loops_) {
            extents.push_back(estimated_.mutate(loop));
        }
        launches_ += "\"loops_at_estimates\": " + list_of(extents) + "}";
    }

private:
    AtEstimates estimated_, doubled_;
    std::vector<Expr> loops_;
    bool taken_ = true;
    std::string launches_;
    // In code that runs at the estimates, and in other branches.
    std::string allocations_, other_allocations_;
};

void write_file(const std::string &path, const void *data, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

void write_file(const std::string &path, const std::string &text) {
    write_file(path, text.data(), text.size());
}

// Sets what one word asks for.
void apply(const std::string &word,
           Halide::GeneratorParamsMap &own,
           Halide::AutoschedulerParams &theirs) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
        throw std::invalid_argument(word + " is not of the form name=value");
    }
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    const std::string prefix = "autoscheduler";
    if (name == prefix) {
        theirs.name = value;
    } else if (name.compare(0, prefix.size() + 1, prefix + ".") == 0) {
        theirs.extra[name.substr(prefix.size() + 1)] = value;
    } else {
        own[name] = value;
    }
}

void compile(const Settings &settings, const std::string &job, std::istream &words) {
    Halide::GeneratorParamsMap parameters;
    Halide::AutoschedulerParams autoscheduler;
    for (const std::string &word : settings.parameters) {
        apply(word, parameters, autoscheduler);
    }
    for (std::string word; words >> word;) {
        apply(word, parameters, autoscheduler);
    }
    const Halide::Target target(settings.target + "-no_runtime");
    const auto generator = GeneratorRegistry::create(
        settings.generator, Halide::GeneratorContext(target, autoscheduler));
    if (generator == nullptr) {
        throw std::invalid_argument("there is no generator " + settings.generator);
    }
    generator->set_generatorparam_values(parameters);
    const Halide::Module module = generator->build_module(settings.generator);

    const std::string base = settings.folder + "/" + job;
    if (const auto *results = module.get_auto_scheduler_results()) {
        write_file(base + ".schedule.txt", results->schedule_source);
        write_file(
            base + ".featurization", results->featurization.data(), results->featurization.size());
    }
    for (const LoweredFunc &function : module.functions()) {
        if (function.linkage == Halide::LinkageType::ExternalPlusMetadata) {
            LaunchFinder finder(function);
            function.body.accept(&finder);
            write_file(base + ".launches.json", finder.json());
        }
    }
    const auto code = module.get_device_code_buffer();
    if (code.defined()) {
        write_file(base + ".ptx", code.data(), code.size_in_bytes());
    }
}

// Ends the process with the message: an exception may not get out of every plugin.
class EndWithMessage : public Halide::CompileTimeErrorReporter {
public:
    void warning(const char *message) override { std::cerr << message << "\n"; }

    [[noreturn]] void error(const char *message) override {
        std::fprintf(stderr, "%s\n", message);
        _exit(1);
    }
};

[[noreturn]] void run_child(const Settings &settings, const std::string &line) {
    std::istringstream words(line);
    std::string job;
    words >> job;
    const std::string log = settings.folder + "/" + job + ".log";
    const int file = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(file, STDERR_FILENO);
    EndWithMessage reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
    const rlimit time{settings.seconds, settings.seconds + 5};
    const rlimit space{settings.megabytes << 20, settings.megabytes << 20};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_AS, &space);
    int status = 1;
    std::string reason;
    log_tail_begin();
    try {
        compile(settings, job, words);
        status = 0;
    } catch (const std::exception &error) {
        reason = std::string(error.what()) + "\n";
    }
    std::cerr << log_tail_end() << reason;
    std::cerr.flush();
    _exit(status);
}

int run(const Settings &settings) {
    if (settings.plugin != "-") {
        Halide::load_plugin(settings.plugin);
    }
    for (std::string line; std::getline(std::cin, line);) {
        const auto begin = std::chrono::steady_clock::now();
        const pid_t child = fork();
        if (child == 0) {
            run_child(settings, line);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child) {
            throw std::runtime_error("cannot run a child process");
        }
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        std::printf("%s %d %.3f\n", line.substr(0, line.find(' ')).c_str(), status, passed.count());
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 7) {
        std::fprintf(
            stderr,
            "usage: %s GENERATOR PLUGIN TARGET FOLDER SECONDS MEGABYTES [name=value ...]\n",
            argv[0]);
        return 2;
    }
    try {
        return run({argv[1],
                    argv[2],
                    argv[3],
                    argv[4],
                    std::stoul(argv[5]),
                    std::stoul(argv[6]),
                    {argv + 7, argv + argc}});
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
