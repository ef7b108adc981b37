#include "search/rollouts.h"

#include "search/depth_hash.h"
#include "search/replay.h"
#include "support/hash.h"

namespace anderson2021 {

namespace {

// Decisions that completed schedules are remembered for: a Func has two.
constexpr int kStepsAhead = 2;

uint64_t key_of(const SearchState &state) {
    uint64_t key = full_hash(*state.tree);
    hash_combine(key, static_cast<uint64_t>(state.num_decisions));
    return key;
}

}  // namespace

std::vector<SearchStatePtr> Rollouts::complete(const std::vector<SearchStatePtr> &states) {
    std::vector<SearchStatePtr> completed(states.size());
    std::vector<SearchStatePtr> unknown;
    std::vector<size_t> owners;
    for (size_t i = 0; i < states.size(); i++) {
        const auto known = known_.find(key_of(*states[i]));
        if (known != known_.end()) {
            completed[i] = known->second;
        } else {
            unknown.push_back(states[i]);
            owners.push_back(i);
        }
    }
    Replay(context_, settings_, best_).complete_all(unknown);
    for (size_t i = 0; i < unknown.size(); i++) {
        completed[owners[i]] = std::move(unknown[i]);
    }
    known_.clear();
    for (size_t i = 0; i < states.size(); i++) {
        if (completed[i] == nullptr) {
            continue;
        }
        if (completed[i]->cost() < best_->cost()) {
            best_ = completed[i];
        }
        const int now = states[i]->num_decisions;
        for (const SearchState *s = completed[i].get(); s->num_decisions > now;
             s = s->parent.get()) {
            if (s->num_decisions <= now + kStepsAhead) {
                known_.emplace(key_of(*s), completed[i]);
            }
        }
    }
    return completed;
}

}  // namespace anderson2021
