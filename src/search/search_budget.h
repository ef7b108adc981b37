// How much time and memory a search may use up, and what it does when one gets short. The only
// place where the clock is asked.
//
// Memory is accounted by estimates, which depend on the schedules looked at and on nothing else;
// so what a limit does to the beam is the same in every run and for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "search/stopwatch.h"
#include "support/options.h"

namespace anderson2021 {

class SearchBudget {
public:
    /// @param cancelled  asked once per step; true ends the search as a time limit does. May be
    ///                   empty.
    SearchBudget(const Options &options, std::function<bool()> cancelled);

    /// Bytes that may be used for what a search remembers of root blocks.
    size_t block_bytes() const { return limit_bytes_ / 16; }
    /// The same for schedules whose costs are known.
    size_t known_bytes() const { return limit_bytes_ / 8; }

    /// Whether the time is up or somebody cancelled the search; once true it stays so. Logs the
    /// reason.
    bool is_over();
    /// A complete schedule exists, so that a search without time left can end.
    void note_schedule() { has_schedule_ = true; }
    bool can_stop() { return has_schedule_ && is_over(); }

    /// Places in the beam.
    int64_t beam_size();
    /// Takes note of the bytes that cannot be forgotten without losing schedules; shrinks the beam
    /// if that is too much.
    void enforce_memory(size_t bytes_in_use);

private:
    const double time_limit_ms_;
    const size_t limit_bytes_;
    std::function<bool()> cancelled_;
    Stopwatch stopwatch_;
    int64_t beam_size_;
    bool over_ = false;
    bool has_schedule_ = false;
};

}  // namespace anderson2021
