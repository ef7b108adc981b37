// Tally of the rules that dropped schedules, for logs and for the message of last resort.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pruning/pruner.h"

namespace anderson2021 {

class RejectionTally {
public:
    struct Line {
        Rejection example;
        int64_t count = 0;
    };

    void add(const Rejection &rejection, int64_t count = 1);
    void add(const RejectionTally &other);
    bool empty() const { return lines_.empty(); }
    /// In order of first occurrence; the example is the first one seen.
    const std::vector<Line> &lines() const { return lines_; }
    /// "shared-memory (12 times, e.g. 65536 > 49152), ...", or an empty string.
    std::string text() const;

private:
    std::vector<Line> lines_;
};

}  // namespace anderson2021
