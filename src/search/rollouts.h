// Judges partial schedules by what becomes of them: each is completed by repeating the decisions of
// the best complete schedule. The cost of a partial schedule knows nothing of the Funcs that are
// not decided yet, so cheap beginnings can have expensive ends.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

class Rollouts {
public:
    /// @param best  a complete schedule
    Rollouts(SearchContext &context, const PassSettings &settings, SearchStatePtr best)
        : context_(context), settings_(settings), best_(std::move(best)) {}

    /// The completed schedule of each of `states`, which all have the same number of decisions;
    /// null where that ends up without a legal choice.
    std::vector<SearchStatePtr> complete(const std::vector<SearchStatePtr> &states);

    /// The cheapest schedule so far; later rollouts repeat the decisions of this one.
    const SearchStatePtr &best() const { return best_; }

private:
    SearchContext &context_;
    const PassSettings &settings_;
    SearchStatePtr best_;
    // By tree and number of decisions: what the last ones became, a few decisions later. Most
    // schedules of the next steps are among these.
    std::unordered_map<uint64_t, SearchStatePtr> known_;
};

}  // namespace anderson2021
