// Improves a complete schedule by taking some of its decisions anew.
//
// Early decisions are taken while most costs are still unknown, and the beam is then spent on their
// variants. So the decisions of the best schedule are kept up to some point, for each such point,
// and the whole beam goes into what follows: into all of it in a small pipeline, else mostly into
// the next few Funcs. Tilings of root Funcs are compared again once it is known what is inside.
#pragma once

#include <functional>
#include <unordered_set>

#include "search/beam_pass.h"
#include "search/pass_settings.h"
#include "search/search_context.h"

namespace anderson2021 {

class Refinement {
public:
    /// Takes note of a result that may be better than the best one so far; returns the best one.
    using Offer = std::function<SearchStatePtr(const PassOutcome &outcome)>;

    /// @param best  a complete schedule with its history
    Refinement(SearchContext &context,
               const PassSettings &settings,
               SearchStatePtr best,
               Offer offer);

    /// Until nothing improves any more, a few rounds at most.
    void run(const std::function<void()> &after_round);

private:
    void refine_once();
    void refine_after(const SearchStatePtr &start);
    void refine_window(const SearchStatePtr &start);
    void retile_all();
    bool is_news(const SearchState &start, const SearchState *rival);
    SearchStatePtr state_of_best(int num_decisions) const;
    bool can_stop() const;
    void offer(const PassOutcome &outcome);

    SearchContext &context_;
    PassSettings settings_;
    SearchStatePtr best_;
    Offer take_;
    // Hashes of what was tried already.
    std::unordered_set<uint64_t> refined_;
};

}  // namespace anderson2021
