// What a host can have a say in while a search goes on: reports of its progress, which may end it,
// and somebody who takes its decisions.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace anderson2021 {

class Chooser;

/// How far a search is.
struct SearchStatus {
    /// Number of the pass, from 1. The refinement of the result counts as the last one.
    int pass = 1;
    /// Passes in all, at most; may become less when passes turn out to be superfluous.
    int passes = 1;
    /// Share of the work that is done, by a rough estimate: from 0 to 1, never less than before.
    double fraction = 0;
    /// Predicted run time of the best complete schedule so far, ms; infinite before there is one.
    double best_cost = std::numeric_limits<double>::infinity();
    /// SearchStats::states_added so far.
    int64_t states = 0;
    /// Since the beginning of the search, and the estimate of what is left; negative: not known
    /// yet.
    double elapsed_s = 0;
    double eta_s = -1;
};

struct SearchHooks {
    /// Called after every step of the search by the thread that called search(), some hundred times
    /// per second; once more at the end, with fraction 1. Once it returns false the search ends
    /// like one whose time is up (option time_limit_s): with the best complete schedule so far, or
    /// else with the first one that can be completed. Exceptions leave the search.
    std::function<bool(const SearchStatus &status)> progress;
    /// Takes the decisions instead of the search. Must outlive it.
    Chooser *chooser = nullptr;
};

}  // namespace anderson2021
