// What the search takes for the best schedule is taken only if it can be compiled. That should
// always be so; if not, the next best one is a better answer than a message.
#pragma once

#include <functional>
#include <string>

#include "lowering/directive.h"
#include "schedule/loop_nest.h"
#include "search/search.h"
#include "support/options.h"

namespace anderson2021 {

struct ChosenSchedule {
    SearchResult found;
    ScheduleTrace trace;
};

/// The steps of a run that a choice consists of.
struct ChoiceSteps {
    std::function<SearchResult(const Options &)> search;
    /// The result of a search that ends with this schedule.
    std::function<SearchResult(const LoopNestPtr &)> evaluate;
    /// Makes the scheduling calls. Empty if they can be compiled, else the reason, with the name of
    /// the Func.
    std::function<std::string(const LoopNest &, ScheduleTrace &)> fault_of;
};

/// `first`, if it can be compiled. Otherwise the cheapest one that can out of several that another
/// search ranks, or one that fuses nothing; the reasons against the others are logged. Throws
/// UserError if there is none.
ChosenSchedule
choose_schedule(SearchResult first, const Options &options, const ChoiceSteps &steps);

}  // namespace anderson2021
