// Costs of all tilings of a root Func, shared by every schedule that has to choose one.
//
// While a Func is tiled none of its producers is placed yet, so its tilings change nothing but the
// features of its own stages; and those depend on the rest of the schedule only through the bytes
// stored in the whole program (features working_set_at_production, _at_realization and _at_root).
// So nests, validity and features of all tilings are computed once per Func and vector dimension,
// and their costs once per number of bytes. A tiled schedule then costs what its other stages cost
// plus an entry of the profile, and its tree is built only if the beam takes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "search/depth_hash.h"
#include "search/rejections.h"
#include "search/search_state.h"
#include "search/state_evaluator.h"
#include "space/root_tilings.h"
#include "support/small_vector.h"

namespace anderson2021 {

struct SearchContext;

/// Tilings that waste more of the multiprocessors' time (see RootTiling) are a last resort.
constexpr double kMaxIdleCoreWaste = 1.2;

class RootProfile {
public:
    /// Tilings of `func`, which `parent` has just placed at the root. With `keep_wasteful` tilings
    /// are kept however many multiprocessors they leave idle.
    RootProfile(SearchContext &context, int func, const SearchState &parent, bool keep_wasteful);

    size_t size() const { return entries_.size(); }
    /// Tiled root nests of all stages, last stage first. Built when first asked for.
    const std::vector<LoopNestPtr> &nests(const LoopNestEditor &editor, size_t entry);
    /// Structural hash of the nest of a stage, 0 for the last one.
    uint64_t hash(size_t entry, int stage) const {
        return hashes_[entry * static_cast<size_t>(num_stages_) + static_cast<size_t>(stage)];
    }
    double idle_core_waste(size_t entry) const { return entries_[entry].tiling.idle_core_waste; }
    const RootTiling &tiling(size_t entry) const { return entries_[entry].tiling; }
    int num_stages() const { return num_stages_; }
    /// Costs in a program that stores a certain number of bytes.
    struct Costs {
        /// Of the stages of all entries, num_stages() each in record order; infinite for entries
        /// that are not in `order`.
        std::vector<float> per_stage;
        /// Entries with finite costs, cheapest first. The first call for a profile looks at all
        /// entries, later ones at those that were best then.
        std::vector<uint32_t> order;
        /// One of the other costs, if there are any.
        double non_finite = 0;
        size_t num_non_finite = 0;
    };
    std::shared_ptr<const Costs> costs(SearchContext &context, double root_working_set);
    /// Why tilings are missing.
    const RejectionTally &rejections() const { return rejections_; }

    /// `parent` with the tiling chosen.
    LoopNestPtr tree(const LoopNestEditor &editor, const LoopNest &parent, size_t entry);
    /// Costs of the schedule with costs `parent` and the tiling chosen, which makes it `tree`.
    StateCosts state_costs(SearchContext &context,
                           const StateCosts &parent,
                           size_t entry,
                           const LoopNestPtr &tree);
    /// Approximate heap bytes.
    size_t bytes() const;
    /// Position of the Func's first stage in record order.
    int first_position() const { return first_position_; }

private:
    struct Entry {
        RootTiling tiling;
        // Empty until somebody wants them.
        std::vector<LoopNestPtr> nests;
    };
    // How one tiling fared.
    struct Trial {
        std::optional<Rejection> rejection;
        // Per stage.
        SmallVector<uint64_t, 2> hashes;
        SmallVector<StageRow, 2> rows;
    };

    Trial try_tiling(const SearchContext &context,
                     const RootTiling &tiling,
                     const SearchState &parent) const;
    void add(const RootTiling &tiling, const Trial &trial);
    std::vector<RootTiling> select(SearchContext &context,
                                   const std::vector<RootTiling> &tilings,
                                   const SearchState &parent,
                                   bool keep_wasteful);

    int func_;
    // All tilings are looked at, however many there are.
    bool keeps_all_;
    int num_stages_;
    int first_position_ = 0;
    std::vector<LoopNestPtr> untiled_;
    std::vector<Entry> entries_;
    std::vector<uint64_t> hashes_;
    // Entries worth looking at, ascending; empty: all.
    std::vector<uint32_t> candidates_;
    // num_stages_ rows per entry; the working sets in them are those of the first parent.
    std::vector<StageRow> rows_;
    std::map<double, std::shared_ptr<const Costs>> costs_;
    RejectionTally rejections_;
};

/// All profiles of a search.
class RootProfiles {
public:
    /// The profile for tiling `func` in `parent`; made at the first call. `parent` must have the
    /// untiled nests of the Func as the last children of its root.
    RootProfile &
    get(SearchContext &context, int func, const SearchState &parent, bool keep_wasteful);

    /// Approximate heap bytes.
    size_t bytes() const;

private:
    // Func, vector dimension, keep_wasteful.
    std::map<std::tuple<int, int, bool>, std::unique_ptr<RootProfile>> profiles_;
};

}  // namespace anderson2021
