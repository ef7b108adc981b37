// What all parts of a search share. One instance per search, used by the searching thread; the
// members say what may be used from inside parallel loops.
#pragma once

#include "costmodel/cost_model.h"
#include "device/gpu_device.h"
#include "schedule/loop_nest_editor.h"
#include "search/nest_interner.h"
#include "search/search.h"
#include "search/search_budget.h"
#include "search/state_evaluator.h"
#include "support/options.h"
#include "support/rng.h"
#include "support/thread_pool.h"

namespace anderson2021 {

class FrozenDecisions;
class PartialMatcher;
class ProgressMeter;
class RootProfiles;

struct SearchContext {
    const PipelineGraph &graph;
    const GpuDevice &device;
    const Options &options;
    RegionStore &store;
    /// Any thread.
    const LoopNestEditor &editor;
    StateEvaluator &evaluator;
    ThreadPool &pool;
    NestInterner &interner;
    RootProfiles &profiles;
    /// Constrains the schedule; null without a partial schedule.
    const PartialMatcher *partial;
    /// Every random decision of the search is drawn from here.
    Rng &rng;
    SearchStats &stats;
    /// Null: no limits.
    SearchBudget *budget = nullptr;
    /// Null: nobody wants to know.
    ProgressMeter *meter = nullptr;
};

}  // namespace anderson2021
