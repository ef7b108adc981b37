// Successors of a step as records of some 50 bytes. The tree of a candidate is built only when the
// beam takes it; and where a schedule has very many successors, as when a Func is tiled, the record
// itself is made only when all cheaper ones are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
    /// Source in the queue that goes on after this candidate; -1 if there is none.
    int32_t source = -1;
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

/// Candidates that need not exist until somebody asks for them: a list in order of cost.
class CandidateSource {
public:
    virtual ~CandidateSource() = default;
    virtual size_t size() const = 0;
    virtual double cost(size_t i) const = 0;
    /// The i-th candidate, complete but for `source`. Its rank is its cost.
    virtual Candidate make(size_t i) const = 0;
};

/// Candidates in order of comes_before.
class CandidateQueue {
public:
    CandidateQueue() = default;
    explicit CandidateQueue(std::vector<Candidate> candidates,
                            std::vector<std::unique_ptr<CandidateSource>> sources = {});

    bool empty() const { return heap_.empty(); }
    size_t size() const { return heap_.size() + num_unmade_; }
    const Candidate &top() const { return heap_.front(); }
    Candidate pop();
    void push(const Candidate &candidate);
    /// All that is left, in no particular order.
    const std::vector<Candidate> &rest();

private:
    // Makes the next candidates of a source: one, and those that cost the same.
    void advance(int32_t source);

    std::vector<Candidate> heap_;
    std::vector<std::unique_ptr<CandidateSource>> sources_;
    // Per source, the first candidate not made yet.
    std::vector<size_t> next_;
    size_t num_unmade_ = 0;
};

}  // namespace anderson2021
