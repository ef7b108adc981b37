// The successors of a step in which a Func is placed: inlined, or given loops somewhere.
//
// 1. Inlining is tried first; for some Funcs nothing else is tried once it has worked.
// 2. All other places are proposed, structurally illegal ones dropped, and the rest sorted by idle
//    lanes. Proposals that leave too many lanes idle are a last resort.
// 3. Proposals are evaluated. In sampled mode similar ones form groups of which a few are taken.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "search/partial_matcher.h"
#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

/// Legal successors of one parent.
struct Placements {
    struct Placed {
        LoopNestPtr tree;
        StateCostsPtr costs;
    };

    /// Applies to all of them.
    std::shared_ptr<const BitSet> always_inline;
    /// Inlining first, then in order of preference.
    std::vector<Placed> placed;
};

class PlacementStep {
public:
    /// How far a successor is from what is wanted, from 0 to kMaxRank.
    using Rank = std::function<int(const LoopNest &tree)>;
    static constexpr int kMaxRank = 2;

    PlacementStep(SearchContext &context, const PassSettings &settings, int func);

    /// From now on successors that are further off are looked at only if none of the closer ones is
    /// legal. Inlining is tried all the same, and nothing changes in sampled mode.
    void rank_by(Rank rank) { rank_ = std::move(rank); }

    /// One entry per parent, in order. Throws UserError if a partial schedule constrains the Func
    /// and no parent has a legal successor that agrees with it.
    std::vector<Placements> run(const std::vector<SearchStatePtr> &parents);

private:
    // Proposals are evaluated in turns: by rank, then those with too many idle lanes.
    static constexpr int kLastResort = kMaxRank + 1;

    struct Proposal {
        LoopNestPtr tree;
        int vector_dim = 0;
        double idle_lanes = 0;
    };
    // Proposals that are interchangeable as far as sampling goes.
    struct Group {
        std::vector<size_t> proposals;
        // Taken at most.
        size_t quota = 0;
        // Evaluated only if nothing was legal in an earlier turn.
        int turn = 0;
        size_t next = 0;
        std::vector<Placements::Placed> taken;
    };
    struct Work {
        const SearchState *parent = nullptr;
        Placements result;
        LoopNestPtr inlined;
        std::vector<Proposal> proposals;
        std::vector<Rejection> rejections;
        double filter_ms = 0;
        std::vector<Group> groups;
    };

    std::shared_ptr<const BitSet> always_inline(const SearchState &parent) const;
    void try_inlining(std::vector<Work> &works);
    bool goes_on(const Work &work) const;
    bool may_inline() const;
    std::vector<Proposal> proposals(const SearchState &parent) const;
    void filter(Work &work) const;
    void group(Work &work) const;
    void group_for_sampling(Work &work) const;
    void evaluate(std::vector<Work> &works, int turn);
    bool agrees(const LoopNest &tree) const;
    [[noreturn]] void report_miss(const std::vector<Work> &works) const;

    SearchContext &context_;
    const PassSettings &settings_;
    const FuncNode &func_;
    Rank rank_;
    // The partial schedule has a say about the Func.
    bool constrained_;
    bool sampled_;
    std::vector<int> vector_dims_;
    // Untiled root nests per vector dimension; shared by all schedules.
    std::map<int, std::vector<LoopNestPtr>> root_nests_;
};

}  // namespace anderson2021
