// Improves a complete schedule by taking some of its decisions anew.
//
// Early decisions are taken while most costs are still unknown, and the beam is then spent on their
// variants. Remedies, in turn until none helps any more:
// - search once more, keeping what other decisions of the best schedule complete best;
// - keep the decisions up to some point, for each such point, and spend the beam on what follows,
//   mostly on the next few Funcs. Left out for small pipelines, which the next does as well by.
// - move one Func elsewhere, repeat all other decisions as far as possible, and see what becomes of
//   the whole schedule;
// - compare the tilings of root Funcs again, now that it is known what is inside.
#pragma once

#include <cstdint>
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
    void roll_out();
    void refine_once();
    void refine_after(const SearchStatePtr &start);
    void refine_window(const SearchStatePtr &start);
    void relocate_all();
    void retile_all();
    void resize_blocks();
    enum Attempt : uint64_t { kRelocated, kRetiled };
    bool is_untried(Attempt attempt, const FuncNode &func);
    bool is_news(const SearchState &start, const SearchState *rival);
    SearchStatePtr state_of_best(int num_decisions) const;
    bool can_stop() const;
    void offer(const PassOutcome &outcome);
    void note_progress(double share_of_round);

    SearchContext &context_;
    PassSettings settings_;
    SearchStatePtr best_;
    Offer take_;
    int round_ = 0;
    // Hashes of what was tried already.
    std::unordered_set<uint64_t> refined_;
};

}  // namespace anderson2021
