// Linked with the source of a generator: autoschedules its pipeline once, without lowering it.
//
//   PROGRAM GENERATOR PLUGIN TARGET [<parameter>=<value> ...] [autoscheduler.<option>=<value> ...]
//
// Prints what that took as one line of JSON on stdout, and on stderr the end of the plugin's log.
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

#include "Halide.h"

#include "log_tail.h"

namespace {

double seconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double peak_mb() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

struct Arguments {
    Halide::GeneratorParamsMap generator;
    Halide::AutoschedulerParams autoscheduler{"Anderson2021", {}};
};

Arguments parse(int argc, char **argv) {
    Arguments result;
    const std::string prefix = "autoscheduler.";
    for (int i = 4; i < argc; i++) {
        const std::string text = argv[i];
        const size_t equals = text.find('=');
        if (equals == std::string::npos) {
            throw std::invalid_argument(text + " is not of the form name=value");
        }
        const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
        if (name.compare(0, prefix.size(), prefix) == 0) {
            result.autoscheduler.extra[name.substr(prefix.size())] = value;
        } else {
            result.generator[name] = value;
        }
    }
    return result;
}

int run(int argc, char **argv) {
    const Arguments arguments = parse(argc, argv);
    const Halide::Target target(argv[3]);
    Halide::load_plugin(argv[2]);
    const auto generator = Halide::Internal::GeneratorRegistry::create(
        argv[1], Halide::GeneratorContext(target, arguments.autoscheduler));
    if (generator == nullptr) {
        throw std::invalid_argument(std::string("there is no generator ") + argv[1]);
    }
    for (const auto &[name, value] : arguments.generator) {
        generator->set_generatorparam_value(name, value);
    }
    Halide::Pipeline pipeline = generator->build_pipeline();

    log_tail_begin();
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    try {
        pipeline.apply_autoscheduler(target, arguments.autoscheduler);
    } catch (...) {
        log_tail_end();
        throw;
    }
    std::printf("{\"wall_s\": %.6f, \"cpu_s\": %.6f, \"peak_mb\": %.1f}\n",
                seconds(CLOCK_MONOTONIC) - wall,
                seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
                peak_mb());
    std::fputs(log_tail_end(), stderr);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s GENERATOR PLUGIN TARGET [name=value ...]\n", argv[0]);
        return 2;
    }
    try {
        return run(argc, argv);
    } catch (const Halide::Error &error) {  // Not one of the standard library's.
        std::fprintf(stderr, "%s\n", error.what());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}
