// Completes a partial schedule by repeating the decisions of a complete one, so that a change of a
// few decisions can be judged by what becomes of the whole schedule.
#pragma once

#include <vector>

#include "search/pass_settings.h"
#include "search/root_profile.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

class Replay {
public:
    /// @param example  a complete schedule
    /// @param inlined  Funcs to inline, if that is legal, whatever the example does
    Replay(SearchContext &context,
           const PassSettings &settings,
           SearchStatePtr example,
           const BitSet &inlined = {});

    /// `start` with all remaining decisions taken: like those of the example where that is
    /// possible, else the cheapest. Null if that ends up without a legal choice.
    SearchStatePtr complete(SearchStatePtr start);
    /// The same of several schedules in place, which all have the same number of decisions, or are
    /// null. They go step by step together, so that threads share the work.
    void complete_all(std::vector<SearchStatePtr> &states);
    /// The same up to `num_decisions`.
    void advance_all(std::vector<SearchStatePtr> &states, int num_decisions);
    /// The example, or what it was when it had that many decisions.
    const SearchState &example(int num_decisions) const {
        return *states_[static_cast<size_t>(num_decisions)];
    }
    /// The successor of `state`, which has just placed a Func at the root, with that tiling.
    static SearchStatePtr choose_tiling(SearchContext &context,
                                        const SearchStatePtr &state,
                                        RootProfile &profile,
                                        size_t entry);

private:
    void step(std::vector<SearchStatePtr> &states);
    void place(std::vector<SearchStatePtr> &states, int func);
    PassSettings same_move(const LoopNest &example, int func, bool inlined) const;
    SearchStatePtr tile_alike(const SearchStatePtr &state, int func, uint64_t wanted);
    SearchStatePtr tile(const SearchStatePtr &state, int func);

    SearchContext &context_;
    const PassSettings &settings_;
    SearchStatePtr example_;
    BitSet inlined_;
    // Of the example, by number of decisions.
    std::vector<const SearchState *> states_;
};

}  // namespace anderson2021
