// A file of decisions taken by hand, one `name = choice` per line, to be replayed or edited.
//
//   # comment
//   out tiles = block 32x16, thread 32x4
//   prod = in the blocks of out      the cheapest choice that begins like that
//   f = 2                            the second cheapest choice
//   * = automatic                    the search decides what is left
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/chooser.h"

namespace anderson2021 {

class Transcript {
public:
    struct Line {
        std::string name;
        std::string choice;
        /// In the file, from 1; 0 for a decision that was made since.
        int number = 0;
    };

    /// Reads the file if it exists. `funcs` are the names of the Funcs in the order of decisions.
    /// Throws UserError for a malformed line, a Func that the pipeline does not have and two lines
    /// about the same decision.
    Transcript(std::string path, std::vector<std::string> funcs);

    const std::string &path() const { return path_; }
    /// The line about a decision; null if there is none.
    const Line *find(const std::string &name) const;
    /// Whether some line is about this decision or one that comes later.
    bool has_later(const std::string &name) const;
    /// All further decisions are left to the search.
    bool is_automatic() const { return automatic_; }

    /// Index of the choice that the line means; nothing if there is none.
    static std::optional<size_t> resolve(const Line &line, const Decision &decision);

    void set(const std::string &name, const std::string &choice);
    void erase(const std::string &name);
    void set_automatic(bool automatic) { automatic_ = automatic; }
    /// Lines in the order of decisions, then `comment`. Throws UserError if it cannot be written.
    void write(const std::string &comment) const;
    const std::vector<Line> &lines() const { return lines_; }

private:
    void add(const std::string &text, int number);
    // Position in the order of decisions; -1 for a Func that there is not.
    int position(const std::string &name) const;
    [[noreturn]] void fail(int number, const std::string &reason) const;

    std::string path_;
    std::vector<std::string> funcs_;
    // In the order of decisions.
    std::vector<Line> lines_;
    bool automatic_ = false;
};

}  // namespace anderson2021
