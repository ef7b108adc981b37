// Completes a partial tree for featurization: untiled root nests get blocks of one warp with one
// point per thread, levels of a block without threads get thread levels of extent 1.
#pragma once

#include "schedule/loop_nest_editor.h"

namespace anderson2021 {

/// The completed tree, or `root` itself if it needs nothing. Unchanged blocks are shared.
LoopNestPtr make_feature_view(const LoopNestPtr &root, const LoopNestEditor &editor);

/// The completed form of `child`, a child of `root`.
LoopNestPtr
complete_block(const LoopNestPtr &child, const LoopNest &root, const LoopNestEditor &editor);

}  // namespace anderson2021
