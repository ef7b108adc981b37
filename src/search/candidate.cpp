#include "search/candidate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace anderson2021 {

namespace {

// std::push_heap keeps the largest element in front.
bool comes_after(const Candidate &a, const Candidate &b) {
    return comes_before(b, a);
}

}  // namespace

bool comes_before(const Candidate &a, const Candidate &b) {
    return std::tie(a.rank, a.cost, a.hash, a.sequence) <
           std::tie(b.rank, b.cost, b.hash, b.sequence);
}

bool is_cheaper(const Candidate &a, const Candidate &b) {
    return std::tie(a.cost, a.hash, a.sequence) < std::tie(b.cost, b.hash, b.sequence);
}

CandidateQueue::CandidateQueue(std::vector<Candidate> candidates) : heap_(std::move(candidates)) {
    std::make_heap(heap_.begin(), heap_.end(), comes_after);
}

Candidate CandidateQueue::pop() {
    std::pop_heap(heap_.begin(), heap_.end(), comes_after);
    const Candidate first = heap_.back();
    heap_.pop_back();
    return first;
}

void CandidateQueue::push(const Candidate &candidate) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), comes_after);
}

}  // namespace anderson2021
