#include "search/search_budget.h"

#include <algorithm>
#include <utility>

#include "support/log.h"

namespace anderson2021 {

SearchBudget::SearchBudget(const Options &options, std::function<bool()> cancelled)
    : time_limit_ms_(options.time_limit_s * 1000),
      limit_bytes_(static_cast<size_t>(options.memory_limit_mb) << 20),
      cancelled_(std::move(cancelled)), beam_size_(options.beam_size) {}

bool SearchBudget::is_over() {
    if (over_) {
        return true;
    }
    if (cancelled_ && cancelled_()) {
        over_ = true;
        ANDERSON_LOG(1) << "The search was cancelled";
    } else if (time_limit_ms_ > 0 && stopwatch_.ms() >= time_limit_ms_) {
        over_ = true;
        ANDERSON_LOG(1) << "The time limit of " << time_limit_ms_ / 1000 << " s is reached";
    }
    if (over_) {
        ANDERSON_LOG(1) << (has_schedule_ ? "The best schedule found so far is taken"
                                          : "The first schedule is completed without alternatives");
    }
    return over_;
}

int64_t SearchBudget::beam_size() {
    return is_over() ? 1 : beam_size_;
}

void SearchBudget::enforce_memory(size_t bytes_in_use) {
    // Half of the memory is for what can be forgotten, and for what no estimate knows.
    if (bytes_in_use > limit_bytes_ / 2 && beam_size_ > 1) {
        beam_size_ = std::max<int64_t>(1, beam_size_ / 2);
        ANDERSON_LOG(1) << "Memory is short (about " << (bytes_in_use >> 20)
                        << " MB in use): the beam shrinks to " << beam_size_;
    }
}

}  // namespace anderson2021
