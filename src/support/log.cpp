#include "support/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace anderson2021 {

namespace {

// Process-wide on purpose: HL_DEBUG_AUTOSCHEDULE is, too.
std::atomic<int> current_level{0};
std::mutex sink_mutex;
std::function<void(const std::string &)> current_sink;
std::function<void()> current_prelude;

}  // namespace

int log_level() {
    return current_level.load(std::memory_order_relaxed);
}

void set_log_level(int level) {
    current_level.store(level, std::memory_order_relaxed);
}

void write_log(const std::string &text) {
    const std::lock_guard<std::mutex> lock(sink_mutex);
    if (current_prelude) {
        current_prelude();
    }
    if (current_sink) {
        current_sink(text);
    } else {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    }
}

void set_log_sink(std::function<void(const std::string &)> sink) {
    const std::lock_guard<std::mutex> lock(sink_mutex);
    current_sink = std::move(sink);
}

void set_log_prelude(std::function<void()> prelude) {
    const std::lock_guard<std::mutex> lock(sink_mutex);
    current_prelude = std::move(prelude);
}

}  // namespace anderson2021
