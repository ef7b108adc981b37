// One pass of beam search: for each decision in turn, the best schedules so far are expanded, and
// their successors become the candidates for the next decision.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/candidate.h"
#include "search/diversity.h"
#include "search/dropout.h"
#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"
#include "search/tiling_step.h"

namespace anderson2021 {

/// What became of a pass.
struct PassOutcome {
    /// The complete schedule chosen; null if the pass ran out of legal ones.
    SearchStatePtr best;
    /// Structures that the next pass may refine.
    PermittedHashes permitted;
    /// Every legal schedule that the moves lead to was looked at: no other pass can do better.
    bool exhaustive = false;
    /// Where the pass got stuck, and what kept it from going on.
    int stuck_func = -1;
    RejectionTally rejections;
    /// The time was up before the pass had a result.
    bool interrupted = false;
    /// The cheapest complete schedules, `top_k` of them, cheapest first.
    std::vector<SearchStatePtr> ranked;
};

class Rollouts;

class BeamPass {
public:
    /// @param permitted  structures that the previous pass found good
    BeamPass(SearchContext &context,
             const PassSettings &settings,
             const PermittedHashes &permitted);

    /// From nothing.
    PassOutcome run();
    /// Keeps the decisions that led to `start` and searches for the others.
    PassOutcome run_from(SearchStatePtr start);
    /// From nothing; of the schedules that would be the beam, the quarter is kept that the rollouts
    /// complete to the cheapest ones.
    PassOutcome run_by_rollouts(Rollouts &rollouts);
    /// Keeps the decisions that led to `start` and makes others up to `num_decisions`: the `count`
    /// cheapest partial schedules, cheapest first.
    std::vector<SearchStatePtr> run_window(SearchStatePtr start, int num_decisions, size_t count);

private:
    // Successors in the form in which the next step picks from them.
    struct Evaluated {
        LoopNestPtr tree;
        StateCostsPtr costs;
    };

    int num_decisions() const { return 2 * context_.graph.num_funcs(); }
    bool tells_look_alikes() const;
    int64_t beam_size() const;

    // Makes decisions up to `end`. The candidates for the last one are left in the queue; false if
    // there are none.
    bool decide(SearchStatePtr start, int end);
    std::vector<Candidate> rest_by_cost();

    // The steps for one decision.
    void select_parents();
    void keep_promising();
    void expand_parents();
    void add_unchanged(size_t parent);
    void add_placements(int func);
    void add_tilings(int func);
    void report_step();

    // Pops the next candidate that neither dropout nor a penalty puts off.
    std::optional<Candidate> pop();
    int64_t penalty_of(const Candidate &candidate);
    uint64_t hash_of(const Candidate &candidate, int depth) const;
    LoopNestPtr tree_of(const Candidate &candidate) const;
    SearchStatePtr materialize(const Candidate &candidate);
    void verify(const SearchState &state);
    void add(Candidate candidate, double rank);
    PassOutcome finish();
    void enforce_memory();
    void bless(const std::vector<Candidate> &by_cost, PassOutcome &outcome);

    SearchContext &context_;
    const PassSettings &settings_;
    // Null: what counts is the cost so far.
    Rollouts *rollouts_ = nullptr;
    Diversity diversity_;
    Dropout dropout_;

    int decision_ = 0;
    // Of the step that made the candidates.
    std::vector<SearchStatePtr> parents_;
    std::vector<double> parent_ranks_;
    std::vector<std::shared_ptr<const BitSet>> always_inline_;
    std::vector<Evaluated> evaluated_;
    size_t evaluated_bytes_ = 0;
    std::vector<RootProfile *> profiles_;
    std::vector<Tilings> tilings_;
    CandidateQueue queue_;
    // Of the step being made.
    std::vector<SearchStatePtr> beam_;
    std::vector<double> beam_ranks_;
    std::vector<Candidate> successors_;
    std::vector<std::unique_ptr<CandidateSource>> sources_;
    int64_t num_successors_ = 0;
    bool exhaustive_ = true;
    bool interrupted_ = false;
    // Approximate bytes of the states made, all of which may still be ancestors of the beam.
    size_t state_bytes_ = 0;
    // What the step that made the candidates rejected.
    RejectionTally rejections_;
};

}  // namespace anderson2021
