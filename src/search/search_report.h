// What the search tells the user: statistics and the result of each pass. Printed from finished
// data; nothing here is evaluated below log level 1.
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

}  // namespace anderson2021
