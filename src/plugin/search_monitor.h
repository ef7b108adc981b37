// Passes the progress of one search on to the terminal and to the host, not too often.
#pragma once

#include <limits>

#include "plugin/progress_bar.h"
#include "search/search_hooks.h"
#include "support/options.h"

namespace anderson2021 {

class SearchMonitor {
public:
    explicit SearchMonitor(const Options &options);

    /// For SearchHooks::progress. Reports at the beginning, then ten times per second at most, and
    /// at the end.
    bool report(const SearchStatus &status);

private:
    ProgressBar bar_;
    double last_report_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace anderson2021
