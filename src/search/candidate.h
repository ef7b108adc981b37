// Successors of a step as records of some 64 bytes. The tree of a candidate is built only when the
// beam takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anderson2021 {

struct Candidate {
    enum class Kind : uint8_t {
        /// Nothing to decide: the parent's tree.
        Unchanged,
        /// Tree number `move` of the step's evaluated trees.
        Evaluated,
        /// Tiling number `move` of the profile of the Func.
        Tiled,
    };

    /// Index of the parent among the step's parents.
    int32_t parent = 0;
    Kind kind = Kind::Unchanged;
    /// Was counted as a look-alike already.
    bool penalized = false;
    int32_t move = 0;
    /// Predicted cost, ms. Never changed.
    double cost = 0;
    /// Place in the queue: the cost with its penalties.
    double rank = 0;
    /// full_hash of the tree.
    uint64_t hash = 0;
    /// Order of generation within the step.
    int64_t sequence = 0;
};

/// Total order: by rank, then cost, hash, and order of generation.
bool comes_before(const Candidate &a, const Candidate &b);
/// The same by cost instead of rank.
bool is_cheaper(const Candidate &a, const Candidate &b);

/// Candidates in order of comes_before.
class CandidateQueue {
public:
    CandidateQueue() = default;
    explicit CandidateQueue(std::vector<Candidate> candidates);

    bool empty() const { return heap_.empty(); }
    size_t size() const { return heap_.size(); }
    const Candidate &top() const { return heap_.front(); }
    Candidate pop();
    void push(const Candidate &candidate);
    /// All that is left, in no particular order.
    const std::vector<Candidate> &rest() const { return heap_; }

private:
    std::vector<Candidate> heap_;
};

}  // namespace anderson2021
