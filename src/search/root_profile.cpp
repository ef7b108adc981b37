#include "search/root_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "search/search_context.h"
#include "search/stopwatch.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

// Distinct root working sets whose costs are kept per Func.
constexpr size_t kMaxCostTables = 64;
// Costs for other working sets than the first one are computed for the best tilings only: the order
// of tilings hardly depends on it.
constexpr size_t kMaxTilingsPerTable = 512;

constexpr size_t index_of(size_t offset) {
    return offset / sizeof(double);
}
// The features of a root Func that depend on the rest of the program.
constexpr size_t kRootWorkingSetFeatures[] = {
    index_of(offsetof(ScheduleFeatures, working_set_at_production)),
    index_of(offsetof(ScheduleFeatures, working_set_at_realization)),
    index_of(offsetof(ScheduleFeatures, working_set_at_root)),
};

void set_working_set(std::vector<StageRow> &rows, double bytes) {
    for (StageRow &row : rows) {
        for (const size_t feature : kRootWorkingSetFeatures) {
            row.features[feature] = static_cast<float>(bytes);
        }
    }
}

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
    : func_(func), keeps_all_(keep_wasteful), num_stages_(context.graph.func(func).num_stages()),
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
    rows_.reserve(trials.size() * static_cast<size_t>(num_stages_));
    hashes_.reserve(trials.size() * static_cast<size_t>(num_stages_));
    entries_.reserve(trials.size());
    for (size_t i = 0; i < trials.size(); i++) {
        add(chosen[i], trials[i]);
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
            found = !try_tiling(context, tiling, parent).rejection;
        }
        chosen.push_back(tiling);
    }
    return chosen;
}

RootProfile::Trial RootProfile::try_tiling(const SearchContext &context,
                                           const RootTiling &tiling,
                                           const SearchState &parent) const {
    Trial trial;
    const std::vector<LoopNestPtr> nests =
        build_root_tiling(context.editor, untiled_, *parent.tree, tiling);
    for (const LoopNestPtr &nest : nests) {
        trial.hashes.push_back(nest->structural_hash());
    }
    std::vector<LoopNestPtr> children(parent.tree->children.begin(),
                                      parent.tree->children.end() - num_stages_);
    children.insert(children.end(), nests.begin(), nests.end());
    const LoopNestPtr root = context.editor.with_children(*parent.tree, std::move(children));
    EvaluationRequest request{root, parent.always_inline, &parent, func_};
    // Only a few of them are ever chosen.
    request.remember_blocks = false;
    const FeaturizedTree featurized = context.evaluator.featurize(request);
    trial.rejection = featurized.rejection;
    if (trial.rejection) {
        return trial;
    }
    const std::vector<BlockRecordPtr> &blocks = featurized.blocks;
    ANDERSON_CHECK(blocks.size() >= static_cast<size_t>(num_stages_))
        << context.graph.func(func_).name << " lacks feature rows";
    int position = first_position_;
    for (auto block = blocks.end() - num_stages_; block != blocks.end(); ++block) {
        const auto &rows = (*block)->rows;
        ANDERSON_CHECK(rows.size() == 1 && rows[0].position == position)
            << "Something else is computed with " << context.graph.func(func_).name;
        trial.rows.push_back(rows[0]);
        position++;
    }
    return trial;
}

void RootProfile::add(const RootTiling &tiling, const Trial &trial) {
    if (trial.rejection) {
        rejections_.add(*trial.rejection);
        return;
    }
    rows_.insert(rows_.end(), trial.rows.begin(), trial.rows.end());
    hashes_.insert(hashes_.end(), trial.hashes.begin(), trial.hashes.end());
    entries_.push_back({tiling, {}});
}

const std::vector<LoopNestPtr> &RootProfile::nests(const LoopNestEditor &editor, size_t entry) {
    Entry &e = entries_[entry];
    if (e.nests.empty()) {
        e.nests = build_root_tiling(editor, untiled_, *editor.make_root(), e.tiling);
    }
    return e.nests;
}

size_t RootProfile::bytes() const {
    constexpr size_t kPerEntry = 512;
    return entries_.size() * kPerEntry + rows_.size() * sizeof(StageRow) +
           costs_.size() * rows_.size() * 2 * sizeof(float);
}

std::shared_ptr<const RootProfile::Costs> RootProfile::costs(SearchContext &context,
                                                             double root_working_set) {
    const auto known = costs_.find(root_working_set);
    if (known != costs_.end()) {
        return known->second;
    }
    if (costs_.size() >= kMaxCostTables) {
        costs_.clear();
    }
    auto result = std::make_shared<Costs>();
    const auto num_stages = static_cast<size_t>(num_stages_);
    std::vector<uint32_t> entries = candidates_;
    if (entries.empty()) {
        entries.resize(entries_.size());
        std::iota(entries.begin(), entries.end(), 0u);
    }
    std::vector<StageRow> rows;
    rows.reserve(entries.size() * num_stages);
    for (const uint32_t e : entries) {
        rows.insert(rows.end(), &rows_[e * num_stages], rows_.data() + (e + 1) * num_stages);
    }
    set_working_set(rows, root_working_set);
    const std::vector<float> costs = context.evaluator.predict(rows);
    result->per_stage.resize(entries_.size() * num_stages, std::numeric_limits<float>::infinity());
    std::vector<double> sums(entries_.size());
    for (size_t i = 0; i < entries.size(); i++) {
        const uint32_t e = entries[i];
        for (size_t s = 0; s < num_stages; s++) {
            result->per_stage[e * num_stages + s] = costs[i * num_stages + s];
            sums[e] += static_cast<double>(costs[i * num_stages + s]);
        }
        if (std::isfinite(sums[e])) {
            result->order.push_back(e);
        } else {
            result->non_finite = sums[e];
            result->num_non_finite++;
        }
    }
    std::stable_sort(result->order.begin(), result->order.end(), [&](uint32_t a, uint32_t b) {
        return sums[a] < sums[b];
    });
    if (candidates_.empty() && entries_.size() > kMaxTilingsPerTable && !keeps_all_) {
        candidates_ = result->order;
        candidates_.resize(std::min(candidates_.size(), kMaxTilingsPerTable));
        std::sort(candidates_.begin(), candidates_.end());
    }
    costs_.emplace(root_working_set, result);
    return result;
}

LoopNestPtr RootProfile::tree(const LoopNestEditor &editor, const LoopNest &parent, size_t entry) {
    std::vector<LoopNestPtr> children(parent.children.begin(), parent.children.end() - num_stages_);
    const std::vector<LoopNestPtr> &tiled = nests(editor, entry);
    children.insert(children.end(), tiled.begin(), tiled.end());
    return editor.with_children(parent, std::move(children));
}

StateCosts RootProfile::state_costs(SearchContext &context,
                                    const StateCosts &parent,
                                    size_t entry,
                                    const LoopNestPtr &tree) {
    const auto num_stages = static_cast<size_t>(num_stages_);
    StateCosts result = parent;
    const auto table = costs_.find(parent.root_working_set);
    // Where only the best tilings were looked at, others have no finite costs.
    if (table != costs_.end() && std::isfinite(table->second->per_stage[entry * num_stages])) {
        std::copy_n(&table->second->per_stage[entry * num_stages],
                    num_stages,
                    result.per_stage.begin() + first_position_);
    } else {
        std::vector<StageRow> rows(&rows_[entry * num_stages],
                                   rows_.data() + (entry + 1) * num_stages);
        set_working_set(rows, parent.root_working_set);
        const std::vector<float> costs = context.evaluator.predict(rows);
        std::copy(costs.begin(), costs.end(), result.per_stage.begin() + first_position_);
    }
    // What the other blocks read does not change.
    const RootPlacement placement(context.graph, *tree);
    for (size_t i = tree->children.size() - num_stages; i < tree->children.size(); i++) {
        result.blocks[i] = context.evaluator.blocks().get(tree, i, placement);
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

size_t RootProfiles::bytes() const {
    size_t total = 0;
    for (const auto &profile : profiles_) {
        total += profile.second->bytes();
    }
    return total;
}

}  // namespace anderson2021
