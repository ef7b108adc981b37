// Why the chosen schedule computes every Func where it does: what the whole schedule would cost if
// one Func went elsewhere and all other decisions stayed as far as that is possible.
#pragma once

#include <vector>

#include "search/func_place.h"
#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

/// How hard to look for rivals.
struct RivalEffort {
    /// Ways to be at one place that are tried at most, those with the cheapest beginnings.
    size_t tries_per_place = 1;
    /// Give up schedules as soon as they do not look like becoming the best ones.
    bool promising_only = true;
};

/// A complete schedule with a Func at some place.
struct Rival {
    FuncPlace place;
    SearchStatePtr state;
};

/// For every place that the Func decided after `parent`, a step on the way to the complete schedule
/// `best`, can have: the cheapest of the schedules that result if all later decisions are those of
/// `best` as far as possible.
std::vector<Rival> find_rivals(SearchContext &context,
                               const PassSettings &settings,
                               const SearchStatePtr &best,
                               const SearchStatePtr &parent,
                               const RivalEffort &effort);

/// One entry per Func that the search places, in its order. `best` is a complete schedule of this
/// search.
std::vector<FuncAlternatives>
find_alternatives(SearchContext &context, const PassSettings &settings, const SearchStatePtr &best);

}  // namespace anderson2021
