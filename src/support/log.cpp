#include "support/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace anderson2021 {

namespace {

// Process-wide on purpose: HL_DEBUG_AUTOSCHEDULE is, too.
std::atomic<int> current_level{0};

struct Sink {
    std::mutex mutex;
    std::function<void(const std::string &)> write;
    std::function<void()> prelude;
};

// Made at the first use and never destroyed, since static objects may log while a library is being
// loaded or the process ends.
Sink &sink() {
    static Sink *const the_sink = new Sink;
    return *the_sink;
}

}  // namespace

int log_level() {
    return current_level.load(std::memory_order_relaxed);
}

void set_log_level(int level) {
    current_level.store(level, std::memory_order_relaxed);
}

void write_log(const std::string &text) {
    Sink &to = sink();
    const std::lock_guard<std::mutex> lock(to.mutex);
    if (to.prelude) {
        to.prelude();
    }
    if (to.write) {
        to.write(text);
    } else {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    }
}

void set_log_sink(std::function<void(const std::string &)> write) {
    Sink &to = sink();
    const std::lock_guard<std::mutex> lock(to.mutex);
    to.write = std::move(write);
}

void set_log_prelude(std::function<void()> prelude) {
    Sink &to = sink();
    const std::lock_guard<std::mutex> lock(to.mutex);
    to.prelude = std::move(prelude);
}

}  // namespace anderson2021
