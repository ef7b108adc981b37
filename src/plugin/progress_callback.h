// The callback that a host has set for progress reports (see cmake/package/progress.h).
#pragma once

#include "search/search_hooks.h"

namespace anderson2021 {

/// Tells the host; false if it wants the search to end. Throws UserError if it wants an error.
/// Does nothing without a callback, or while another thread is in the callback.
bool call_progress_callback(const SearchStatus &status);

}  // namespace anderson2021
