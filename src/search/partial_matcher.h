// Restricts a search to schedules that agree with a text.
#pragma once

#include <memory>
#include <string>

#include "schedule/loop_nest.h"
#include "schedule/schedule_parser.h"
#include "support/bit_set.h"

namespace anderson2021 {

class PartialMatcher {
public:
    /// Throws UserError if the text mentions a Func that the pipeline does not have.
    PartialMatcher(ParsedSchedule schedule, const PipelineGraph &graph);

    /// The text says something about this Func.
    bool constrains(int func) const { return constrained_.contains(func); }
    /// The tree agrees with the text as far as it goes. Safe from any thread.
    bool matches(const LoopNest &root) const;

    /// How well a tree that does not match fits, for messages.
    struct Fit {
        /// Leading lines about the Func that agree.
        size_t num_lines = 0;
        std::string mismatch;
    };
    Fit fit(const LoopNest &root, int func) const;
    const std::string &source() const { return schedule_.source; }

private:
    ParsedSchedule schedule_;
    const PipelineGraph &graph_;
    BitSet constrained_;
};

/// Of the candidates that were turned down for one Func, the one that comes closest to the text.
class ClosestMiss {
public:
    void add(const PartialMatcher &matcher, const LoopNest &root, int func);
    /// A candidate that matches but breaks a rule; beats every other miss.
    void add_rejected(const std::string &rejections);
    /// Throws the UserError for a Func that no candidate matches.
    [[noreturn]] void report(const PartialMatcher &matcher, const FuncNode &func) const;

private:
    bool any_ = false;
    PartialMatcher::Fit best_;
    std::string rejected_;
};

}  // namespace anderson2021
