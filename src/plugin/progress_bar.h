// A line at the bottom of the terminal that tells how far the search is. Nothing on anything but a
// terminal.
#pragma once

#include <string>

#include "search/search_hooks.h"

namespace anderson2021 {

/// E.g. "[====>     ] 42%  pass 2/6  best 1.23 ms  12345 states  3 s, about 5 s left", in at most
/// `columns` characters: what does not fit is left out, from the end.
std::string progress_line(const SearchStatus &status, int columns);

class ProgressBar {
public:
    /// Shows itself only if `wanted` and stderr is a terminal that can move its cursor. Of several
    /// searches at a time, one has a bar.
    explicit ProgressBar(bool wanted);
    /// Wipes it.
    ~ProgressBar();
    ProgressBar(const ProgressBar &) = delete;
    ProgressBar &operator=(const ProgressBar &) = delete;

    /// Draws the line once a search turns out to take longer than a moment. Lines of the log wipe
    /// it first.
    void show(const SearchStatus &status);

private:
    bool enabled_ = false;
};

}  // namespace anderson2021
