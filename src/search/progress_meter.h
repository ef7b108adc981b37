// How much of a search is done. The steps of a search are planned with the time that they are
// likely to take, in units of the first pass; steps that turn out to be superfluous are struck off.
#pragma once

#include <functional>
#include <vector>

#include "search/search_hooks.h"

namespace anderson2021 {

class ProgressMeter {
public:
    /// Adds a step to the plan.
    void plan(double weight);
    /// The next step of the plan; ends the one before. A step that was not planned is added.
    void begin(double weight);
    /// Takes steps off the plan, from its beginning.
    void skip(int num_steps);
    /// Share of the current step that is done. Ignored during refinement, whose parts are searches
    /// that know only about themselves.
    void advance(double fraction);
    /// begin() for the refinement; only advance_refinement() counts from then on.
    void begin_refinement(double weight);
    void advance_refinement(double fraction);
    /// Everything is done.
    void finish();

    /// Fills pass, passes, fraction and eta_s, which follows from elapsed_s.
    void describe(SearchStatus &status);

private:
    std::vector<double> planned_;
    double done_ = 0;
    double current_ = 0;
    double fraction_ = 0;
    double reported_ = 0;
    int number_ = 0;
    bool refining_ = false;
    bool finished_ = false;
};

}  // namespace anderson2021
