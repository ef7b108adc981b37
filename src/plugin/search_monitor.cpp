#include "plugin/search_monitor.h"

#include <algorithm>

#include "plugin/progress_callback.h"

namespace anderson2021 {

namespace {

constexpr double kReportInterval_s = 0.1;

}  // namespace

// Somebody who decides by hand has the terminal for that.
SearchMonitor::SearchMonitor(const Options &options)
    : bar_(options.progress != 0 && options.by_hand.empty()) {}

double SearchMonitor::elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void SearchMonitor::begin_phase(double share) {
    if (begun_) {
        passes_before_ = last_.pass;
        states_before_ = last_.states;
    }
    seconds_before_ = std::max(elapsed_s(), last_.elapsed_s);
    done_ = last_.fraction;
    share_ = share;
}

void SearchMonitor::begin_trial() {
    trials_.count--;
    in_trial_ = true;
    begin_phase(trials_.share);
}

void SearchMonitor::begin_search() {
    trials_ = TrialPlan();
    in_trial_ = false;
    begin_phase(1 - last_.fraction);
}

bool SearchMonitor::report(const SearchStatus &status) {
    if (stopped_) {
        return false;
    }
    const bool first = !begun_;
    const bool is_end = status.fraction >= 1;
    const double before = last_.fraction;
    begun_ = true;
    last_ = status;
    last_.pass += passes_before_;
    last_.passes += passes_before_;
    // The end of a search need not be the end of the run.
    last_.fraction =
        is_end && !in_trial_ ? before : done_ + share_ * std::clamp(status.fraction, 0.0, 1.0);
    last_.states += states_before_;
    last_.elapsed_s += seconds_before_;
    if (in_trial_) {
        last_.passes += trials_.count * trials_.passes + trials_.passes_of_search;
        last_.best_cost = std::numeric_limits<double>::infinity();
        last_.eta_s = -1;
    }
    if (!first && (is_end || last_.elapsed_s < last_report_s_ + kReportInterval_s)) {
        return true;
    }
    return pass_on();
}

void SearchMonitor::finish(double best_cost) {
    if (!begun_) {
        return;
    }
    last_.fraction = 1;
    last_.best_cost = best_cost;
    last_.elapsed_s = std::max(last_.elapsed_s, elapsed_s());
    last_.eta_s = 0;
    pass_on();
}

bool SearchMonitor::pass_on() {
    last_report_s_ = last_.elapsed_s;
    bar_.show(last_);
    stopped_ = !call_progress_callback(last_) || stopped_;
    return !stopped_;
}

}  // namespace anderson2021
