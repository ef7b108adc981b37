// A search whose decisions somebody else takes: one schedule, grown decision by decision, each from
// the same candidates that the beam search would look at.
#pragma once

#include <vector>

#include "search/beam_pass.h"
#include "search/chooser.h"
#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

class ByHand {
public:
    ByHand(SearchContext &context, const PassSettings &settings, Chooser &chooser)
        : context_(context), settings_(settings), chooser_(chooser) {}

    /// The schedule that the chooser wants. If it leaves the rest to the search, a pass of beam
    /// search decides that. Without a result, the outcome tells where it got stuck.
    PassOutcome run();

private:
    // A way to decide, from which the state follows.
    struct Option {
        Choice choice;
        LoopNestPtr tree;
        StateCostsPtr costs;
        size_t tiling = 0;
    };
    struct Options {
        std::vector<Option> list;
        std::shared_ptr<const BitSet> always_inline;
        RootProfile *profile = nullptr;
    };

    Options options_of(const SearchStatePtr &state);
    Options placements(const SearchStatePtr &state, int func);
    Options tilings(const SearchStatePtr &state, int func);
    Decision decision_of(const SearchStatePtr &state, const Options &options) const;
    SearchStatePtr take(const SearchStatePtr &state, const Options &options, size_t choice);

    SearchContext &context_;
    const PassSettings &settings_;
    Chooser &chooser_;
    // The states in which there was a choice.
    std::vector<SearchStatePtr> asked_;
};

}  // namespace anderson2021
