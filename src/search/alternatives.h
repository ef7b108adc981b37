// Why the chosen schedule computes every Func where it does: what the whole schedule would cost if
// one Func went elsewhere and all other decisions stayed as far as that is possible.
#pragma once

#include <vector>

#include "search/func_place.h"
#include "search/pass_settings.h"
#include "search/search_context.h"
#include "search/search_state.h"

namespace anderson2021 {

/// One entry per Func that the search places, in its order. `best` is a complete schedule of this
/// search.
std::vector<FuncAlternatives>
find_alternatives(SearchContext &context, const PassSettings &settings, const SearchStatePtr &best);

}  // namespace anderson2021
