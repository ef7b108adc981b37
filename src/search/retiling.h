// Looks for better blocks and threads for a Func at the root once everything else is decided.
//
// A Func is tiled before it is known what will be computed inside of it, and tilings that looked
// mediocre then are dropped. Where nothing but inlined Funcs ends up inside, all tilings can be
// compared for the price of one block each. That is also tried for blocks with Funcs of their own
// loops, by inlining those, and by placing them again in blocks of other sizes.
#pragma once

#include <vector>

#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

/// A schedule cheaper than `best`, a complete one, that differs from it in how the root Func `func`
/// is tiled, and in that all Funcs in its blocks are inlined; null if there is none.
SearchStatePtr
retile(SearchContext &context, const PassSettings &settings, const SearchStatePtr &best, int func);

/// Schedules cheaper than `best` that differ from it in the size of the blocks of the root Func
/// `func` and in how the Funcs computed inside of them are spread over threads. Looks at that many
/// sizes of blocks, those that are best for the Func alone.
std::vector<SearchStatePtr> retile_fused(SearchContext &context,
                                         const PassSettings &settings,
                                         const SearchStatePtr &best,
                                         int func,
                                         size_t max_block_sizes);

}  // namespace anderson2021
