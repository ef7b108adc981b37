// Keeps the beam from filling up with variants of one schedule, pass after pass in finer detail.
//
// Schedules with equal hashes at the pass's depth are look-alikes: the first goes through at its
// cost, the second at twice, the third at three times that cost. Later passes also put back
// whatever does not refine a structure that was good in the pass before. All of this concerns the
// rank of a candidate only.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace anderson2021 {

/// Hashes of the good structures of the pass before.
using PermittedHashes = std::unordered_set<uint64_t>;

class Diversity {
public:
    /// Added to the penalty of structures that are not permitted.
    static constexpr int64_t kUnpermitted = 10;

    /// @param pass  0 for the first one; only later ones look at `permitted`
    Diversity(int pass, const PermittedHashes &permitted) : pass_(pass), permitted_(permitted) {}

    /// Depths at which look-alikes and permitted structures are told.
    int look_alike_depth() const { return pass_ + 1; }
    int permitted_depth() const { return pass_ - 1; }
    /// Forgets the look-alikes of the previous step.
    void begin_step() { seen_.clear(); }
    /// Factor on the rank of a candidate that is looked at for the first time; counts it.
    int64_t penalty(uint64_t look_alike_hash, uint64_t permitted_hash);

private:
    int pass_;
    const PermittedHashes &permitted_;
    std::unordered_map<uint64_t, int64_t> seen_;
};

/// rank * penalty for ranks >= 0; grows with the penalty for negative ones, too.
double penalized_rank(double rank, int64_t penalty);

}  // namespace anderson2021
