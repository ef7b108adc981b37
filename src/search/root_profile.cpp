#include "search/root_profile.h"

#include <cstddef>
#include <utility>

#include "search/search_context.h"
#include "search/stopwatch.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

// Distinct root working sets whose costs are kept per Func.
constexpr size_t kMaxCostTables = 64;

constexpr size_t index_of(size_t offset) {
    return offset / sizeof(double);
}
// The features of a root Func that depend on the rest of the program.
constexpr size_t kRootWorkingSetFeatures[] = {
    index_of(offsetof(ScheduleFeatures, working_set_at_production)),
    index_of(offsetof(ScheduleFeatures, working_set_at_realization)),
    index_of(offsetof(ScheduleFeatures, working_set_at_root)),
};

int first_position_of(const PipelineGraph &graph, const FuncNode &func) {
    const std::vector<int> &order = graph.record_order();
    for (size_t i = 0; i < order.size(); i++) {
        if (order[i] == func.stages.back().id) {
            return static_cast<int>(i);
        }
    }
    ANDERSON_CHECK(false) << func.name << " has no feature rows";
    return -1;
}

}  // namespace

RootProfile::RootProfile(SearchContext &context,
                         int func,
                         const SearchState &parent,
                         bool keep_wasteful)
    : func_(func), num_stages_(context.graph.func(func).num_stages()),
      first_position_(first_position_of(context.graph, context.graph.func(func))) {
    const Stopwatch compute_in_tiles;
    const std::vector<LoopNestPtr> &children = parent.tree->children;
    const auto count = static_cast<ptrdiff_t>(num_stages_);
    ANDERSON_CHECK(children.end() - children.begin() >= count);
    untiled_.assign(children.end() - count, children.end());
    for (const LoopNestPtr &nest : untiled_) {
        ANDERSON_CHECK(nest->func == func && nest->axis == GpuAxis::None)
            << context.graph.func(func).name << " is not the Func placed last";
    }
    const std::vector<RootTiling> tilings = root_tilings(
        context.graph, untiled_, static_cast<int>(context.options.parallelism), context.device);
    context.stats.compute_in_tiles_ms += compute_in_tiles.ms();

    const Stopwatch filter;
    const std::vector<RootTiling> chosen = select(context, tilings, parent, keep_wasteful);
    context.stats.filter_parallel_tiles_ms += filter.ms();
    std::vector<Trial> trials(chosen.size());
    context.pool.parallel_for(static_cast<int64_t>(chosen.size()), [&](int64_t n) {
        const auto i = static_cast<size_t>(n);
        trials[i] = try_tiling(context, chosen[i], parent);
    });
    for (Trial &trial : trials) {
        add(context, std::move(trial));
    }
}

// The tilings worth building: no more points per thread than can be unrolled, and, once one is
// known to be valid, none that leaves too many multiprocessors idle. Within a serial group the
// first wasteful one ends the group, except that equals of the last one taken are taken as well.
std::vector<RootTiling> RootProfile::select(SearchContext &context,
                                            const std::vector<RootTiling> &tilings,
                                            const SearchState &parent,
                                            bool keep_wasteful) {
    std::vector<RootTiling> chosen;
    bool found = keep_wasteful;
    int group = -1, ended_group = -1;
    double previous_waste = 0;
    for (const RootTiling &tiling : tilings) {
        if (tiling.serial_group != group) {
            group = tiling.serial_group;
            previous_waste = 0;
        }
        if (tiling.serial_group == ended_group) {
            continue;
        }
        if (!keep_wasteful && found && tiling.idle_core_waste > kMaxIdleCoreWaste &&
            tiling.idle_core_waste != previous_waste) {
            ended_group = group;
            continue;
        }
        previous_waste = tiling.idle_core_waste;
        context.stats.tilings_generated++;
        if (tiling.serial_points > context.device.unroll_limit) {
            rejections_.add({"serial-extents",
                             static_cast<double>(tiling.serial_points),
                             static_cast<double>(context.device.unroll_limit)});
            continue;
        }
        if (!found) {
            found = !try_tiling(context, tiling, parent).featurized.rejection;
        }
        chosen.push_back(tiling);
    }
    return chosen;
}

RootProfile::Trial RootProfile::try_tiling(const SearchContext &context,
                                           const RootTiling &tiling,
                                           const SearchState &parent) const {
    Trial trial;
    trial.entry.nests = build_root_tiling(context.editor, untiled_, *parent.tree, tiling);
    trial.entry.idle_core_waste = tiling.idle_core_waste;
    std::vector<LoopNestPtr> children(parent.tree->children.begin(),
                                      parent.tree->children.end() - num_stages_);
    children.insert(children.end(), trial.entry.nests.begin(), trial.entry.nests.end());
    const LoopNestPtr root = context.editor.with_children(*parent.tree, std::move(children));
    trial.featurized = context.evaluator.featurize({root, parent.always_inline});
    return trial;
}

void RootProfile::add(const SearchContext &context, Trial trial) {
    if (trial.featurized.rejection) {
        rejections_.add(*trial.featurized.rejection);
        return;
    }
    int num_rows = 0;
    for (const StageRow &row : trial.featurized.rows) {
        if (row.position >= first_position_ && row.position < first_position_ + num_stages_) {
            rows_.push_back(row);
            num_rows++;
        }
    }
    ANDERSON_CHECK(num_rows == num_stages_)
        << context.graph.func(func_).name << " lacks feature rows";
    entries_.push_back(std::move(trial.entry));
}

const std::vector<float> &RootProfile::costs(SearchContext &context, double root_working_set) {
    const auto known = costs_.find(root_working_set);
    if (known != costs_.end()) {
        return known->second;
    }
    if (costs_.size() >= kMaxCostTables) {
        costs_.clear();
    }
    for (StageRow &row : rows_) {
        for (const size_t feature : kRootWorkingSetFeatures) {
            row.features[feature] = static_cast<float>(root_working_set);
        }
    }
    return costs_.emplace(root_working_set, context.evaluator.predict(rows_)).first->second;
}

LoopNestPtr
RootProfile::tree(const LoopNestEditor &editor, const LoopNest &parent, size_t entry) const {
    std::vector<LoopNestPtr> children(parent.children.begin(), parent.children.end() - num_stages_);
    const std::vector<LoopNestPtr> &nests = entries_[entry].nests;
    children.insert(children.end(), nests.begin(), nests.end());
    return editor.with_children(parent, std::move(children));
}

StateCosts
RootProfile::state_costs(SearchContext &context, const StateCosts &parent, size_t entry) {
    const std::vector<float> &all = costs(context, parent.root_working_set);
    const auto num_stages = static_cast<size_t>(num_stages_);
    StateCosts result = parent;
    for (size_t s = 0; s < num_stages; s++) {
        result.per_stage[static_cast<size_t>(first_position_) + s] = all[entry * num_stages + s];
    }
    result.sum_up();
    return result;
}

RootProfile &
RootProfiles::get(SearchContext &context, int func, const SearchState &parent, bool keep_wasteful) {
    const auto key = std::make_tuple(func, parent.tree->children.back()->vector_dim, keep_wasteful);
    std::unique_ptr<RootProfile> &profile = profiles_[key];
    if (profile == nullptr) {
        profile = std::make_unique<RootProfile>(context, func, parent, keep_wasteful);
        context.stats.block_memoization_misses += static_cast<int64_t>(profile->size());
    } else {
        context.stats.block_memoization_hits += static_cast<int64_t>(profile->size());
    }
    return *profile;
}

}  // namespace anderson2021
