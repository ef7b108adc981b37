// Looks for better blocks and threads for a Func at the root once everything else is decided.
//
// A Func is tiled before it is known what will be computed inside of it, and tilings that looked
// mediocre then are dropped. Where nothing but inlined Funcs ends up inside, all tilings can be
// compared for the price of one block each. That is also tried for blocks with Funcs of their own
// loops, by inlining those.
#pragma once

#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

/// A schedule cheaper than `best`, a complete one, that differs from it in how the root Func `func`
/// is tiled, and in that all Funcs in its blocks are inlined; null if there is none.
SearchStatePtr
retile(SearchContext &context, const PassSettings &settings, const SearchStatePtr &best, int func);

}  // namespace anderson2021
