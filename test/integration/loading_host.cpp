// A C++ program that loads the plugin in all the ways that it should not, and uses it from many
// threads at once. usage: loading_host <plugin> <copy of the plugin>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "Halide.h"

namespace {

using namespace Halide;

using Params = std::map<std::string, std::string>;

constexpr int kThreads = 8;
constexpr int kRounds = 3;

[[noreturn]] void fail(const std::string &reason) {
    std::cerr << "FAILED: " << reason << "\n";
    std::exit(1);
}

void open_library(const std::string &path, bool close) {
    void *handle = dlopen(path.c_str(), RTLD_NOW);
    if (handle == nullptr) {
        fail(std::string("cannot open: ") + dlerror());
    }
    if (close && dlclose(handle) != 0) {
        fail(std::string("cannot close: ") + dlerror());
    }
}

// Different pipelines for different `kind`s; the prefix keeps the names apart.
Func make_pipeline(int kind, const std::string &prefix) {
    Var x("x"), y("y");
    Func source(prefix + "source"), rows(prefix + "rows"), output(prefix + "output");
    source(x, y) = x * 3 + y * y;
    rows(x, y) = 0;
    RDom r(0, 2 + kind);
    rows(x, y) += source(x + r, y);
    output(x, y) = rows(x, y) + rows(x, y + kind);
    output.set_estimates({{0, 200 + 61 * kind}, {0, 100}});
    return output;
}

// As different from each other as options can be.
Params options_of(int kind) {
    Params params{{"parallelism", std::to_string(20 + 10 * kind)}, {"beam_size", "4"}};
    if (kind % 2 == 1) {
        params["beam_size"] = "1";
        params["random_dropout"] = "1";
        params["random_dropout_seed"] = std::to_string(kind);
    }
    if (kind % 3 == 0) {
        params["shared_memory_limit_kb"] = "16";
    }
    if (kind % 4 == 2) {
        params["gpu"] = "t4";
    }
    params["threads"] = std::to_string(1 + kind % 3);
    return params;
}

std::vector<uint8_t> features_of(int kind, const std::string &prefix) {
    const AutoSchedulerResults results =
        Pipeline(make_pipeline(kind, prefix))
            .apply_autoscheduler(Target("host-opencl"),
                                 AutoschedulerParams("Anderson2021", options_of(kind)));
    if (results.featurization.empty() || results.schedule_source.empty()) {
        fail("empty results");
    }
    return results.featurization;
}

// Every thread schedules its own pipelines, makes mistakes in between, and has to get what one
// thread alone gets.
void schedule_in_threads() {
    std::vector<std::vector<uint8_t>> alone;
    for (int kind = 0; kind < kThreads; kind++) {
        alone.push_back(features_of(kind, "alone_" + std::to_string(kind) + "_"));
    }
    std::atomic<int> wrong{0}, errors{0}, unexpected{0};
    std::vector<std::thread> threads;
    for (int kind = 0; kind < kThreads; kind++) {
        threads.emplace_back([&, kind] {
            for (int round = 0; round < kRounds; round++) {
                const std::string prefix =
                    "t" + std::to_string(kind) + "_" + std::to_string(round) + "_";
                try {
                    wrong += features_of(kind, prefix) != alone[static_cast<size_t>(kind)] ? 1 : 0;
                } catch (const std::exception &error) {
                    std::cerr << error.what() << "\n";
                    unexpected++;
                }
                try {
                    Pipeline(make_pipeline(kind, prefix + "bad_"))
                        .apply_autoscheduler(
                            Target("host-opencl"),
                            AutoschedulerParams("Anderson2021", {{"beam_size", "none"}}));
                } catch (const CompileError &) {
                    errors++;
                }
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    if (wrong != 0 || unexpected != 0 || errors != kThreads * kRounds) {
        fail(std::to_string(wrong) + " wrong results, " + std::to_string(unexpected) +
             " unexpected errors, " + std::to_string(errors) + " errors caught");
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        fail("usage: loading_host <plugin> <copy of the plugin>");
    }
    open_library(argv[1], true);
    features_of(0, "closed_");
    load_plugin(argv[1]);
    load_plugin(argv[1]);
    features_of(0, "twice_");
    // Another library that registers the same name.
    open_library(argv[2], true);
    load_plugin(argv[2]);
    features_of(0, "copy_");
    schedule_in_threads();
    std::cout << "all right\n";
    return 0;
}
