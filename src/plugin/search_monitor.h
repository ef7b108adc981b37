// Passes the progress of one run on to the terminal and to the host, not too often.
//
// A run is a search, or several short ones on trial and the one that counts, or even further ones
// if the compiler refuses what was found. The terminal and the host see a single search with
// passes, states and seconds of all of them, whose end is that of the run.
#pragma once

#include <chrono>
#include <limits>

#include "plugin/progress_bar.h"
#include "search/search_hooks.h"
#include "support/options.h"

namespace anderson2021 {

/// Searches on trial, of which none gives the schedule.
struct TrialPlan {
    int count = 0;
    /// Of each of them, and of the search that follows: at most.
    int passes = 1;
    int passes_of_search = 1;
    /// Of each of them, of the work of all.
    double share = 0;
};

class SearchMonitor {
public:
    explicit SearchMonitor(const Options &options);

    /// Trials will follow.
    void plan(const TrialPlan &trials) { trials_ = trials; }
    /// What is reported from now on is another trial. Their costs are not reported, since no
    /// trial's schedule is that of the run.
    void begin_trial();
    /// What is reported from now on is a search for the schedule.
    void begin_search();
    /// For SearchHooks::progress. Reports at the beginning of the run, then ten times per second at
    /// most. Throws SearchGivenUp.
    bool report(const SearchStatus &status);
    /// Reports the end of the run, unless it had no search. Throws SearchGivenUp.
    void finish(double best_cost);
    /// Somebody has asked for the end: nothing but finish() reports any more.
    bool is_stopped() const { return stopped_; }

private:
    void begin_phase(double share);
    double elapsed_s() const;
    bool pass_on();

    ProgressBar bar_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    TrialPlan trials_;
    // Of all the work, what the present search begins with and what it takes.
    double done_ = 0, share_ = 1;
    bool in_trial_ = false, stopped_ = false, begun_ = false;
    // Of the searches before.
    int passes_before_ = 0;
    int64_t states_before_ = 0;
    double seconds_before_ = 0;
    SearchStatus last_;
    double last_report_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace anderson2021
