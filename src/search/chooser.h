// Somebody who takes the decisions of a search by hand: at every decision that leaves a choice, one
// of the legal candidates.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace anderson2021 {

/// One way of deciding.
struct Choice {
    /// E.g. "inlined", "at the root", "in a block of out: block 8x8, thread 16x4". Unique among the
    /// choices of a decision, and the same in every search that comes this way.
    std::string text;
    /// Predicted cost of the schedule so far with this choice, ms. Funcs that are not decided yet
    /// count nothing.
    double cost = 0;
};

/// What there is to decide.
struct Decision {
    /// "f" for the place of Func f, "f tiles" for its blocks and threads at the root.
    std::string name;
    /// Number of the Func in the order of decisions, from 1, and the number of Funcs.
    int func_number = 0;
    int num_funcs = 0;
    /// Cheapest first; at least two.
    std::vector<Choice> choices;
    /// Some earlier decision can be taken back.
    bool can_go_back = false;
    /// The text of the schedule so far.
    std::function<std::string()> schedule;
};

struct Answer {
    enum class Kind {
        /// `choice` is the index of the choice.
        Take,
        /// Undo the decision before, that is, the last one that was asked.
        Back,
        /// The search decides this and all that follows.
        Automatic,
    };
    Kind kind = Kind::Take;
    size_t choice = 0;
};

class Chooser {
public:
    virtual ~Chooser() = default;
    /// Exceptions leave the search.
    virtual Answer choose(const Decision &decision) = 0;
    /// There is nothing legal left for a Func, for the reason given. True to take the last decision
    /// back; false ends the search in a UserError.
    virtual bool take_back(const std::string &func, const std::string &reason) = 0;
    /// All is decided; ms.
    virtual void done(double cost) = 0;
};

}  // namespace anderson2021
