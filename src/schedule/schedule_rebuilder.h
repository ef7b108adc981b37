// From the text form back to a schedule tree.
#pragma once

#include "schedule/loop_nest_editor.h"
#include "schedule/schedule_parser.h"

namespace anderson2021 {

/// The tree that the text describes, made by placing and splitting, so that all regions are those
/// that a search would have found. The text must show every level of every Func that it places.
///
/// Sizes, labels, numbers of inlined calls and the extents on `realize:` lines (if there are any)
/// are checked against the pipeline.
///
/// @param complete  every Func but inputs has to be placed or inlined
///
/// Throws UserError (source:line: reason) if no tree of the search space looks like that.
LoopNestPtr rebuild_schedule(const ParsedSchedule &schedule,
                             const LoopNestEditor &editor,
                             bool complete = true);

}  // namespace anderson2021
