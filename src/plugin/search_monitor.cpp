#include "plugin/search_monitor.h"

#include "plugin/progress_callback.h"

namespace anderson2021 {

namespace {

constexpr double kReportInterval_s = 0.1;

}  // namespace

// Somebody who decides by hand has the terminal for that.
SearchMonitor::SearchMonitor(const Options &options)
    : bar_(options.progress != 0 && options.by_hand.empty()) {}

bool SearchMonitor::report(const SearchStatus &status) {
    if (status.fraction < 1 && status.elapsed_s < last_report_s_ + kReportInterval_s) {
        return true;
    }
    last_report_s_ = status.elapsed_s;
    bar_.show(status);
    return call_progress_callback(status);
}

}  // namespace anderson2021
