// A C++ program that watches searches through the plugin's C interface.
// usage: progress_host <plugin>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "Halide.h"

#include "anderson2021/progress.h"
#include "anderson2021/version.h"

namespace {

using namespace Halide;

void require(bool condition, const std::string &what) {
    if (!condition) {
        std::fprintf(stderr, "FAILED: %s\n", what.c_str());
        std::exit(1);
    }
}

std::string schedule() {
    Var x("x"), y("y");
    Func source("source"), rows("rows"), blur("blur"), sharp("sharp");
    source(x, y) = x * 3 + y * y;
    rows(x, y) = source(x - 1, y) + source(x, y) + source(x + 1, y);
    blur(x, y) = rows(x, y - 1) + rows(x, y) + rows(x, y + 1);
    sharp(x, y) = 18 * source(x, y) - blur(x, y);
    sharp.set_estimates({{0, 1536}, {0, 1024}});
    const AutoschedulerParams params(
        "Anderson2021", {{"parallelism", "80"}, {"threads", "1"}, {"beam_size", "200"}});
    // Without the numbers that tell Funcs of the same name apart.
    return std::regex_replace(
        Pipeline(sharp).apply_autoscheduler(Target("host-opencl"), params).schedule_source,
        std::regex("[$_][0-9]+"),
        "");
}

struct Watcher {
    std::vector<anderson2021_progress> seen;
    int answer = ANDERSON2021_CONTINUE;
};

int watch(const anderson2021_progress *progress, void *user) {
    Watcher &watcher = *static_cast<Watcher *>(user);
    watcher.seen.push_back(*progress);
    return watcher.answer;
}

std::string error_of_schedule() {
    try {
        schedule();
    } catch (const CompileError &error) {
        return error.what();
    }
    return "";
}

}  // namespace

int main(int argc, char **argv) {
    require(argc == 2, "usage: progress_host <plugin>");
    load_plugin(argv[1]);
    void *plugin = dlopen(argv[1], RTLD_NOW);
    require(plugin != nullptr, "dlopen");
    const auto version = reinterpret_cast<const char *(*)()>(dlsym(plugin, "anderson2021_version"));
    require(version != nullptr && std::string(version()) == ANDERSON2021_VERSION, "version");
    const auto set = reinterpret_cast<anderson2021_set_progress_callback_type>(
        dlsym(plugin, "anderson2021_set_progress_callback"));
    require(set != nullptr, "anderson2021_set_progress_callback is not exported");

    Watcher watcher;
    set(watch, &watcher);
    const std::string whole = schedule();
    require(watcher.seen.size() >= 2, "no calls");
    require(watcher.seen.front().fraction < 0.2, "beginning");
    require(watcher.seen.back().fraction == 1 && watcher.seen.back().best_cost_ms > 0, "end");

    watcher = {{}, ANDERSON2021_STOP};
    require(schedule().find("gpu_blocks") != std::string::npos, "a search that was stopped");
    require(watcher.seen.size() <= 2, "calls after the end was wanted");

    watcher = {{}, ANDERSON2021_ABORT};
    require(error_of_schedule().find("ANDERSON2021_ABORT") != std::string::npos, "abort");
    require(watcher.seen.size() == 1, "calls after the search was given up");

    set([](const anderson2021_progress *, void *) -> int { throw std::runtime_error("no ink"); },
        nullptr);
    require(error_of_schedule().find("no ink") != std::string::npos, "exception");

    set(nullptr, nullptr);
    watcher.seen.clear();
    require(schedule() == whole, "the same schedule without a callback");
    require(watcher.seen.empty(), "calls after the callback was removed");
    std::puts("all right");
    return 0;
}
