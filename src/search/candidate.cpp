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

CandidateQueue::CandidateQueue(std::vector<Candidate> candidates,
                               std::vector<std::unique_ptr<CandidateSource>> sources)
    : heap_(std::move(candidates)), sources_(std::move(sources)), next_(sources_.size()) {
    std::make_heap(heap_.begin(), heap_.end(), comes_after);
    for (const auto &source : sources_) {
        num_unmade_ += source->size();
    }
    for (size_t i = 0; i < sources_.size(); i++) {
        advance(static_cast<int32_t>(i));
    }
}

void CandidateQueue::advance(int32_t source) {
    const auto s = static_cast<size_t>(source);
    const CandidateSource &from = *sources_[s];
    size_t &next = next_[s];
    if (next == from.size()) {
        return;
    }
    const double cost = from.cost(next);
    while (next < from.size() && from.cost(next) == cost) {
        Candidate candidate = from.make(next++);
        num_unmade_--;
        const bool is_last_of_equals = next == from.size() || from.cost(next) != cost;
        candidate.source = is_last_of_equals ? source : -1;
        push(candidate);
    }
}

Candidate CandidateQueue::pop() {
    std::pop_heap(heap_.begin(), heap_.end(), comes_after);
    Candidate first = heap_.back();
    heap_.pop_back();
    if (first.source >= 0) {
        advance(std::exchange(first.source, -1));
    }
    return first;
}

void CandidateQueue::push(const Candidate &candidate) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), comes_after);
}

const std::vector<Candidate> &CandidateQueue::rest() {
    for (size_t s = 0; s < sources_.size(); s++) {
        while (next_[s] < sources_[s]->size()) {
            heap_.push_back(sources_[s]->make(next_[s]++));
        }
    }
    num_unmade_ = 0;
    std::make_heap(heap_.begin(), heap_.end(), comes_after);
    return heap_;
}

}  // namespace anderson2021
