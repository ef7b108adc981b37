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
class Tilings {
public:
    struct Choice {
        /// Entry of the profile.
        size_t entry = 0;
        /// Predicted cost of the whole schedule, ms; as SearchState::cost() of the tiled state.
        double cost = 0;
        /// full_hash of the tiled tree.
        uint64_t hash = 0;
    };

    /// The Func needs no tiling.
    Tilings() = default;
    /// All tilings of the profile with finite costs.
    Tilings(RootProfile &profile,
            std::shared_ptr<const RootProfile::Costs> costs,
            const SearchState &parent);

    /// Null if the Func needs no tiling in this parent.
    RootProfile *profile() const { return profile_; }
    size_t size() const { return order_.size(); }
    /// In order of the costs of the Func, which is that of the schedules but for rounding.
    Choice choice(size_t i) const;
    double cost(size_t i) const;
    size_t entry(size_t i) const { return order_[i]; }
    /// Keeps some of the choices, by index; ascending.
    void restrict_to(const std::vector<size_t> &choices);

private:
    RootProfile *profile_ = nullptr;
    std::shared_ptr<const RootProfile::Costs> costs_;
    std::vector<uint32_t> order_;
    // Cost and hash of everything that precedes the Func in record order and among the children of
    // the root. Nothing follows it.
    double others_ = 0;
    FullHash hash_of_others_;
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
    std::vector<size_t> sample(const SearchState &parent, const Tilings &tilings) const;
    std::vector<size_t> matching(const Tilings &tilings);
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
