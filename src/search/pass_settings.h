// What distinguishes one pass of the search from another.
#pragma once

#include "search/frozen_decisions.h"
#include "space/space_options.h"

namespace anderson2021 {

struct PassSettings {
    /// -1 for the pre-pass, 0 for the first pass. Sets the depth of hashes.
    int index = 0;
    /// Passes in all, without the pre-pass.
    int num_passes = 1;
    SpaceOptions moves;
    FrozenDecisions frozen;
    /// Recomputing a Func often is no reason to drop a schedule.
    bool exempt_all = false;
    /// Inlines Funcs that are inlined eagerly (space/inline_move.h) wherever that is legal. A
    /// smaller space, in which the beam gets further.
    bool eager_inlining = false;
    /// Obeys the partial schedule, if there is one.
    bool follows_partial_schedule = true;

    /// Half of the beam: for passes that go where others have been already.
    bool narrow_beam = false;

    /// The pass looks for a schedule, not for decisions to freeze.
    bool is_pre_pass() const { return index < 0; }
};

}  // namespace anderson2021
