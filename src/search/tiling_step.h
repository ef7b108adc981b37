// The successors of a step in which a Func that was just placed at the root gets its blocks and
// threads: records that refer to an entry of the Func's profile, no trees.
#pragma once

#include <map>
#include <vector>

#include "search/partial_matcher.h"
#include "search/pass_settings.h"
#include "search/root_profile.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

/// Legal tilings of one parent.
struct Tilings {
    struct Choice {
        /// Entry of the profile.
        size_t entry = 0;
        /// Predicted cost of the whole schedule, ms; as SearchState::cost() of the tiled state.
        double cost = 0;
        /// full_hash of the tiled tree.
        uint64_t hash = 0;
    };

    /// Null if the Func needs no tiling in this parent.
    RootProfile *profile = nullptr;
    std::vector<Choice> choices;
};

class TilingStep {
public:
    TilingStep(SearchContext &context, const PassSettings &settings, int func);

    /// One entry per parent, in order. Throws UserError if a partial schedule constrains the Func
    /// and no parent has a legal tiling that agrees with it.
    std::vector<Tilings> run(const std::vector<SearchStatePtr> &parents);

    /// The Func has just been placed at the root and has dimensions to be tiled.
    static bool needs_tiling(const PipelineGraph &graph, const LoopNest &root, int func);

private:
    Tilings tilings_of(const SearchState &parent);
    std::vector<Tilings::Choice> sample(const SearchState &parent,
                                        const RootProfile &profile,
                                        const std::vector<Tilings::Choice> &choices) const;
    std::vector<Tilings::Choice> matching(const RootProfile &profile,
                                          const std::vector<Tilings::Choice> &choices);
    [[noreturn]] void report_miss(const SearchState &parent) const;

    SearchContext &context_;
    const PassSettings &settings_;
    int func_;
    bool constrained_;
    bool sampled_;
    // Per profile and entry, whether the partial schedule agrees; only ever looked up.
    std::map<const RootProfile *, std::vector<bool>> agreement_;
};

}  // namespace anderson2021
