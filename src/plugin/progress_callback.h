// The callback that a host has set for progress reports (see cmake/package/progress.h).
#pragma once

#include "search/search_hooks.h"
#include "support/error.h"

namespace anderson2021 {

/// The host wants an error, whatever else could be tried.
class SearchGivenUp : public UserError {
public:
    using UserError::UserError;
};

/// Tells the host; false if it wants the search to end. Throws SearchGivenUp if it wants an error.
/// Does nothing without a callback, or while another thread is in the callback.
bool call_progress_callback(const SearchStatus &status);

}  // namespace anderson2021
