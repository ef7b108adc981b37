// The entry point of the search: graph, options and cost model in, best schedule tree out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "costmodel/cost_model.h"
#include "device/gpu_device.h"
#include "features/feature_matrix.h"
#include "schedule/loop_nest.h"
#include "search/func_place.h"
#include "search/rejections.h"
#include "search/search_hooks.h"
#include "support/options.h"

namespace anderson2021 {

/// Counters for the log. Times are wall-clock times of the searching thread, except that
/// filter_thread_tiles_ms adds up what all threads spent.
struct SearchStats {
    /// Successors that passed every rule.
    int64_t states_added = 0;
    int64_t featurizations = 0;
    /// Of the feature cache, per root block.
    int64_t memoization_hits = 0;
    int64_t memoization_misses = 0;
    /// Times that the tilings of a root Func were taken from memory, and tilings put there.
    int64_t block_memoization_hits = 0;
    int64_t block_memoization_misses = 0;
    /// Schedules whose cost was computed, the memorised tilings included.
    int64_t schedules_evaluated = 0;
    /// Placements and root tilings that were looked at / taken; the latter in sampled mode only.
    int64_t tilings_generated = 0;
    int64_t tilings_accepted = 0;
    /// Schedules that broke a rule.
    int64_t rejections = 0;
    RejectionTally rejections_by_rule;
    /// Passes over all decisions, and partial ones that start from the best schedule found.
    int64_t passes = 0;
    int64_t refinements = 0;
    double featurization_ms = 0;
    double enqueue_ms = 0;
    double feature_write_ms = 0;
    double cost_model_ms = 0;
    double generate_children_ms = 0;
    double compute_in_tiles_ms = 0;
    double filter_thread_tiles_ms = 0;
    double filter_parallel_tiles_ms = 0;
    double total_s = 0;
};

/// How far the search was at some point.
struct SearchProgress {
    /// What has just ended, e.g. "pass 2".
    std::string step;
    /// Since the beginning of the search.
    double elapsed_ms = 0;
    /// Predicted run time of the best complete schedule so far, ms.
    double best_cost = 0;
    /// SearchStats::states_added so far.
    int64_t states = 0;
};

struct SearchResult {
    LoopNestPtr best;
    /// Predicted run time in ms, free of penalties.
    double cost = 0;
    /// Cost per stage in record order, ms.
    std::vector<double> stage_costs;
    /// Features of the winner, by stage id.
    FeatureMatrix features;
    /// The best schedules found, all different, cheapest first; at most top_k, the winner included.
    struct Ranked {
        LoopNestPtr tree;
        double cost = 0;
        FeatureMatrix features;
    };
    std::vector<Ranked> top;
    std::vector<SearchProgress> progress;
    /// Empty unless option record_path is set.
    std::vector<FuncAlternatives> alternatives;
    SearchStats stats;
};

/// Passes that a search with these options makes at most, its refinement included.
int max_passes(const Options &options);

/// Finds the schedule with the lowest predicted cost. `store` must have been made for `graph` and
/// outlive the result; `cost_model` must have begun on this graph.
///
/// Throws UserError if no legal schedule exists within the options (naming the Func that has no
/// legal placement) or if the partial schedule cannot be read or matched.
SearchResult search(const PipelineGraph &graph,
                    RegionStore &store,
                    const GpuDevice &device,
                    const Options &options,
                    CostModel &cost_model,
                    const SearchHooks &hooks = {});

}  // namespace anderson2021
