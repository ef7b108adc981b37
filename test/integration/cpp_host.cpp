// A C++ program that loads the plugin, makes mistakes, catches them, and then schedules and runs a
// pipeline. usage: cpp_host <plugin>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "Halide.h"

namespace {

using namespace Halide;

using Params = std::map<std::string, std::string>;

[[noreturn]] void fail(const std::string &reason) {
    std::cerr << "FAILED: " << reason << "\n";
    std::exit(1);
}

// A blur of two stages with all estimates.
Func make_blur() {
    Var x("x"), y("y");
    Func source("source"), rows("rows"), blur("blur");
    source(x, y) = x * 3 + y * y;
    rows(x, y) = source(x - 1, y) + source(x, y) + source(x + 1, y);
    blur(x, y) = rows(x, y - 1) + rows(x, y) + rows(x, y + 1);
    blur.set_estimates({{0, 300}, {0, 200}});
    return blur;
}

void expect_error(const std::string &word, const std::function<void()> &mistake) {
    try {
        mistake();
    } catch (const CompileError &error) {
        if (std::string(error.what()).find(word) == std::string::npos) {
            fail("no " + word + " in: " + error.what());
        }
        std::cout << "caught: " << error.what() << "\n";
        return;
    }
    fail("no error about " + word);
}

void schedule(Func f, const Target &target, const Params &params) {
    const AutoSchedulerResults results =
        Pipeline(f).apply_autoscheduler(target, AutoschedulerParams("Anderson2021", params));
    if (results.schedule_source.empty() || results.featurization.empty()) {
        fail("empty results");
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        fail("usage: cpp_host <plugin>");
    }
    load_plugin(argv[1]);
    const Target opencl("host-opencl");

    expect_error("GPU", [] { schedule(make_blur(), Target("host"), {}); });
    expect_error("beam_size", [&] { schedule(make_blur(), opencl, {{"beam_size", "0"}}); });
    expect_error("no_such_option", [&] {
        schedule(make_blur(), opencl, {{"no_such_option", "1"}});
    });
    expect_error("/no/such.weights", [&] {
        schedule(make_blur(), opencl, {{"weights_path", "/no/such.weights"}});
    });
    expect_error("estimate", [&] {
        Var x("x");
        Func unestimated("unestimated");
        unestimated(x) = x;
        schedule(unestimated, opencl, {});
    });

    // After all that the process still schedules, twice and with different options.
    for (const Params &params : {Params{{"parallelism", "80"}},
                                 Params{{"beam_size", "1"}, {"shared_memory_limit_kb", "16"}}}) {
        Func blur = make_blur();
        schedule(blur, opencl, params);
        Buffer<int> have = blur.realize({301, 67}, opencl);
        have.copy_to_host();
        Buffer<int> want = make_blur().realize({301, 67});
        for (int y = 0; y < want.height(); y++) {
            for (int x = 0; x < want.width(); x++) {
                if (have(x, y) != want(x, y)) {
                    fail("wrong result at " + std::to_string(x) + ", " + std::to_string(y));
                }
            }
        }
    }
    std::cout << "all right\n";
    return 0;
}
