// What the search tells the user: statistics, the result of each pass, a progress bar. Printed from
// finished data; nothing here is evaluated below log level 1.
#pragma once

#include <cstdint>
#include <string>

#include "search/search.h"

namespace anderson2021 {

/// One `label: value` per line. Times are cut to whole milliseconds and averages are quotients of
/// the cut totals, as scripts that read these lines expect.
std::string print_statistics(const SearchStats &stats);

/// What a search did, in integers: equal for equal searches on any machine and any number of
/// threads, and very likely to change with any change of the search. One `label: value` per line.
std::string search_signature(const SearchResult &result);

/// "Pass <number> result: State with cost <cost>:" and the tree. The first pass is number 1, the
/// pre-pass 0.
std::string
print_pass_result(int number, double cost, const LoopNest &root, const PipelineGraph &graph);

/// "Search space options:" and one line per move.
std::string print_search_space(const Options &options);

/// A bar on the terminal; silent if stderr is none or below log level 1.
class ProgressBar {
public:
    ProgressBar(int num_funcs, int64_t beam_size);

    /// After a step with `num_successors` candidates made from `num_expanded` schedules with
    /// `num_decisions` decisions. Redraws now and then only.
    void advance(int64_t num_successors, int num_decisions, int64_t num_expanded);
    /// Wipes the bar.
    void clear();

    /// Cells to be filled of kWidth.
    static int64_t
    filled_cells(int num_decisions, int64_t num_expanded, int num_funcs, int64_t beam_size);
    static constexpr int kWidth = 78;

private:
    bool enabled_;
    bool drawn_ = false;
    int num_funcs_;
    int64_t beam_size_;
    int64_t num_successors_ = 0;
    int64_t num_drawn_ = 0;
};

}  // namespace anderson2021
