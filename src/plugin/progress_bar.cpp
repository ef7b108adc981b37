#include "plugin/progress_bar.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/log.h"

namespace anderson2021 {

namespace {

// Shorter searches are over before anybody has read it.
constexpr double kFirstShown_s = 0.5;
constexpr int kMinCells = 10;
constexpr int kMaxCells = 40;
constexpr int kDefaultColumns = 80;

std::atomic<bool> in_use{false};
std::atomic<bool> drawn{false};

bool is_terminal() {
    const char *term = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && term != nullptr && std::string(term) != "dumb";
}

int terminal_columns() {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : kDefaultColumns;
}

// Called with the log locked, before it writes.
void wipe() {
    if (drawn.exchange(false)) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
    }
}

std::string format(const char *pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), pattern, value);
    return text;
}

std::string duration(double seconds) {
    const auto whole = static_cast<int64_t>(std::llround(seconds));
    if (whole < 60) {
        return std::to_string(whole) + " s";
    }
    if (whole < 3600) {
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    }
    return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

std::string progress_line(const SearchStatus &status, int columns) {
    const double fraction = std::clamp(status.fraction, 0.0, 1.0);
    std::string parts[] = {
        format("%.0f%%", std::floor(100 * fraction)),
        "pass " + std::to_string(status.pass) + "/" + std::to_string(status.passes),
        std::isfinite(status.best_cost) ? "best " + format("%.4g", status.best_cost) + " ms"
                                        : "no schedule yet",
        std::to_string(status.states) + " states",
        duration(status.elapsed_s) +
            (status.eta_s < 0 ? "" : ", about " + duration(status.eta_s) + " left"),
    };
    std::string text;
    for (const std::string &part : parts) {
        if (static_cast<int>(text.size() + part.size()) + 2 > columns) {
            break;
        }
        text += (text.empty() ? "" : "  ") + part;
    }
    // "[", "]" and a blank.
    const int room = std::min(columns - static_cast<int>(text.size()) - 3, kMaxCells);
    if (room < kMinCells) {
        return text;
    }
    const auto filled = static_cast<size_t>(std::floor(fraction * room));
    std::string cells(filled, '=');
    if (cells.size() < static_cast<size_t>(room)) {
        cells += '>';
    }
    cells.resize(static_cast<size_t>(room), ' ');
    return "[" + cells + "] " + text;
}

ProgressBar::ProgressBar(bool wanted) {
    if (wanted && is_terminal() && !in_use.exchange(true)) {
        enabled_ = true;
        set_log_prelude(wipe);
    }
}

ProgressBar::~ProgressBar() {
    if (enabled_) {
        set_log_prelude(nullptr);
        wipe();
        in_use = false;
    }
}

void ProgressBar::show(const SearchStatus &status) {
    if (!enabled_ || status.elapsed_s < kFirstShown_s) {
        return;
    }
    // The last column stays free, or else some terminals begin a new line.
    const std::string line = "\r" + progress_line(status, terminal_columns() - 1) + "\033[K";
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    drawn = true;
}

}  // namespace anderson2021
