#include "search/progress_meter.h"

#include <algorithm>
#include <numeric>

namespace anderson2021 {

namespace {

// What has been seen of a search before its end is guessed.
constexpr double kLeastFraction = 0.02;
constexpr double kLeastSeconds = 0.2;

}  // namespace

void ProgressMeter::plan(double weight) {
    planned_.push_back(weight);
}

void ProgressMeter::begin(double weight) {
    done_ += current_;
    if (planned_.empty()) {
        current_ = weight;
    } else {
        current_ = planned_.front();
        planned_.erase(planned_.begin());
    }
    fraction_ = 0;
    refining_ = false;
    number_++;
}

void ProgressMeter::begin_refinement(double weight) {
    begin(weight);
    refining_ = true;
}

void ProgressMeter::skip(int num_steps) {
    const auto count = std::min(planned_.size(), static_cast<size_t>(std::max(num_steps, 0)));
    planned_.erase(planned_.begin(), planned_.begin() + static_cast<std::ptrdiff_t>(count));
}

void ProgressMeter::advance(double fraction) {
    if (!refining_) {
        fraction_ = std::min(fraction, 1.0);
    }
}

void ProgressMeter::advance_refinement(double fraction) {
    fraction_ = std::min(fraction, 1.0);
}

void ProgressMeter::finish() {
    finished_ = true;
    planned_.clear();
}

void ProgressMeter::describe(SearchStatus &status) {
    status.pass = std::max(number_, 1);
    status.passes = std::max(number_ + static_cast<int>(planned_.size()), 1);
    const double total = std::accumulate(planned_.begin(), planned_.end(), done_ + current_);
    const double share = total > 0 ? (done_ + current_ * fraction_) / total : 0;
    reported_ = finished_ ? 1 : std::max(reported_, std::min(share, 1.0));
    status.fraction = reported_;
    if (finished_) {
        status.eta_s = 0;
    } else if (share >= kLeastFraction && status.elapsed_s >= kLeastSeconds) {
        status.eta_s = status.elapsed_s * (1 - share) / share;
    }
}

}  // namespace anderson2021
