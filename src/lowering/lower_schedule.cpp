// Lowering proceeds in three steps: a walk over the tree collects one plan per stage, enclosing
// stages first; each plan is then turned into loops and directives, which needs the loops of the
// plans around it only for their names; finally the directives are put into graph order.
#include "lowering/lower_schedule.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lowering/block_mapping.h"
#include "lowering/loop_splits.h"
#include "lowering/root_placements.h"
#include "lowering/size_conditions.h"
#include "lowering/stage_plan.h"
#include "lowering/staging.h"
#include "lowering/tail_rules.h"
#include "lowering/thread_mapping.h"
#include "schedule/unknown_sizes.h"
#include "schedule/unrolling.h"

namespace anderson2021 {

namespace {

/// Makes the vector dimension the innermost one in memory.
Directive storage_order(const StagePlan &plan) {
    Directive d;
    d.kind = Directive::Kind::ReorderStorage;
    for (int dim = 0; dim < plan.func->dims(); dim++) {
        for (const LoopDim &loop : plan.stage->loops) {
            if (loop.pure_dim == dim) {
                const VarRef var{loop.var, false, loop.dims_index};
                d.vars.insert(dim == plan.outermost->vector_dim ? d.vars.begin() : d.vars.end(),
                              var);
            }
        }
    }
    return d;
}

class ScheduleLowering {
public:
    ScheduleLowering(const PipelineGraph &graph,
                     const GpuDevice &device,
                     const LoweringOptions &options)
        : graph_(graph), device_(device), options_(options), tails_(graph), sizes_(graph) {}

    ScheduleTrace lower(const LoopNest &root) {
        root_ = &root;
        to_root_ = find_root_placements(root, graph_, device_);
        for (const LoopNestPtr &c : root.children) {
            collect(*c, root, {});
        }
        ScheduleTrace trace;
        for (StagePlan &plan : plans_) {
            trace.stages.push_back(lower_stage(plan, trace.staged));
        }
        const auto by_stage = [](const StageDirectives &a, const StageDirectives &b) {
            return std::pair(a.func, a.stage_index) < std::pair(b.func, b.stage_index);
        };
        std::stable_sort(trace.stages.begin(), trace.stages.end(), by_stage);
        std::stable_sort(trace.staged.begin(),
                         trace.staged.end(),
                         [](const StagedProducer &a, const StagedProducer &b) {
                             return a.consumer < b.consumer;
                         });
        return trace;
    }

private:
    /// Where a stage is computed; -1 at the root.
    struct Place {
        int plan = -1;
        int level = -1;
        int task = -1;
        bool in_thread = false;
    };

    void collect(const LoopNest &outermost, const LoopNest &parent, const Place &place);
    void collect_children(int plan);
    StageDirectives lower_stage(StagePlan &plan, std::vector<StagedProducer> &staged);
    void make_loops(StagePlan &plan, KernelThreads &kernel) const;
    void make_blocks_and_threads(StagePlan &plan) const;
    Directive compute_level(const StagePlan &plan) const;
    bool is_in_clipped_tile(const StagePlan &plan) const;
    int64_t copies_around(const StagePlan &plan) const;

    const PipelineGraph &graph_;
    const GpuDevice &device_;
    const LoweringOptions &options_;
    const TailRules tails_;
    SizeConditions sizes_;
    const LoopNest *root_ = nullptr;
    /// Enclosing stages come first.
    std::vector<StagePlan> plans_;
    /// Per plan of a root stage.
    std::vector<KernelThreads> kernels_;
    /// Funcs that do not stay where the tree has them.
    BitSet to_root_;
    /// Funcs inlined anywhere.
    BitSet inlined_;
};

void ScheduleLowering::collect(const LoopNest &outermost,
                               const LoopNest &parent,
                               const Place &place) {
    const FuncNode &func = graph_.func(outermost.func);
    if (func.is_input) {
        return;
    }
    const int id = static_cast<int>(plans_.size());
    const bool to_root = to_root_.contains(func.id);
    const bool at_root = place.plan < 0 || to_root;
    plans_.push_back(to_root ? make_root_stage_plan(graph_, outermost, *root_, device_.warp_size)
                             : make_stage_plan(graph_, outermost, parent));
    kernels_.emplace_back(device_);
    StagePlan &plan = plans_.back();
    plan.site_plan = at_root ? -1 : place.plan;
    plan.site_level = at_root ? -1 : place.level;
    plan.task = at_root ? id : place.task;
    plan.in_thread = place.in_thread;
    if (at_root) {
        // Without a pure Var there is nothing to be distributed.
        plan.in_thread = std::all_of(plan.stage->loops.begin(),
                                     plan.stage->loops.end(),
                                     [](const LoopDim &d) { return d.rvar; });
    }
    if (at_root && !to_root && !plan.in_thread && options_.spread_blocks) {
        spread_blocks_over_threads(plan, device_);
    }
    collect_children(id);
}

void ScheduleLowering::collect_children(int id) {
    bool in_thread = plans_[static_cast<size_t>(id)].in_thread;
    const size_t num_levels = plans_[static_cast<size_t>(id)].levels.size();
    for (size_t l = 0; l < num_levels; l++) {
        // Plans move when others are added.
        const StagePlan &plan = plans_[static_cast<size_t>(id)];
        const int task = plan.task;
        const LoopNest *const nest = plan.levels[l].nest;
        in_thread = in_thread || plan.levels[l].axis == GpuAxis::Thread;
        if (nest == nullptr) {
            continue;
        }
        for (const LoopNestPtr &c : nest->children) {
            if (c->stage_id != nest->stage_id) {
                collect(*c, *nest, {id, static_cast<int>(l), task, in_thread});
            } else if (c->innermost) {
                for (const InlinedCall &call : c->inlined) {
                    inlined_.insert(call.func);
                }
            }
        }
    }
}

Directive ScheduleLowering::compute_level(const StagePlan &plan) const {
    Directive d;
    if (plan.at_root()) {
        d.kind = Directive::Kind::ComputeRoot;
        return d;
    }
    const StagePlan &site = plans_[static_cast<size_t>(plan.site_plan)];
    d.kind = Directive::Kind::ComputeAt;
    d.vars = {innermost_var(site, plan.site_level)};
    d.at_func = site.func->id;
    d.at_stage = site.stage->index;
    return d;
}

void ScheduleLowering::make_loops(StagePlan &plan, KernelThreads &kernel) const {
    split_loops(plan, tails_);
    const bool too_much =
        !plan.at_root() &&
        reads_in_unknown_loops(*plan.outermost, *plan.parent, graph_) > kMaxReadsInUnknownLoops;
    unroll_innermost(plan, tails_, too_much ? 1 : device_.unroll_limit);
    if (plan.at_root() && !plan.in_thread) {
        move_single_trips_inside_blocks(plan);
    }
    choose_threads(plan, kernel);
    reorder_loops(plan);
}

void ScheduleLowering::make_blocks_and_threads(StagePlan &plan) const {
    if (plan.at_root()) {
        map_blocks(plan, device_);
    }
    for (const VarRef &v : plan.thread_vars) {
        plan.add(Directive::Kind::GpuThreads, {v});
    }
}

bool ScheduleLowering::is_in_clipped_tile(const StagePlan &plan) const {
    if (plan.at_root()) {
        return false;
    }
    // Inside the serial loops of a stage there is just one point.
    const StagePlan &site = plans_[static_cast<size_t>(plan.site_plan)];
    return (plan.site_level == 0 && site.clips_blocks) ||
           (plan.site_level == site.body_level() && site.clips_threads);
}

int64_t ScheduleLowering::copies_around(const StagePlan &plan) const {
    if (plan.at_root()) {
        return 1;
    }
    const StagePlan &site = plans_[static_cast<size_t>(plan.site_plan)];
    const bool innermost = plan.site_level + 1 == static_cast<int>(site.levels.size());
    return site.unrolled_around * (innermost ? site.unrolled_points : 1);
}

StageDirectives ScheduleLowering::lower_stage(StagePlan &plan,
                                              std::vector<StagedProducer> &staged) {
    StageDirectives result;
    result.func = plan.func->id;
    result.stage_index = plan.stage->index;
    if (plan.stage->index == 0) {
        result.directives.push_back(compute_level(plan));
    }
    if (plan.func->is_extern) {  // Halide knows its loops by name only.
        return result;
    }
    plan.in_clipped_tile = is_in_clipped_tile(plan);
    plan.unrolled_around = copies_around(plan);
    const LoopNest &task = *plans_[static_cast<size_t>(plan.task)].outermost;
    plan.shared_bytes_used = static_cast<double>(largest_shared_bytes(task, graph_));
    plan.shared_bytes_limit = static_cast<double>(device_.shared_bytes_per_block);
    KernelThreads &kernel = kernels_[static_cast<size_t>(plan.task)];
    const KernelThreads kernel_before = kernel;
    StagePlan other = plan;
    make_loops(plan, kernel);
    std::optional<std::vector<SizeCondition>> conditions;
    if (!plan.long_loops.empty()) {
        conditions = sizes_.for_plan(plan);
    }
    if (!plan.long_loops.empty() && !conditions) {
        plan = other;
        plan.short_loops = ShortLoops::Guarded;
        kernel = kernel_before;
        make_loops(plan, kernel);
    }
    std::vector<StagedProducer> own_staged =
        stage_producers(plan, graph_, inlined_, options_.max_staged_values);
    make_blocks_and_threads(plan);
    const bool specialize = conditions && !conditions->empty();
    if (specialize) {
        result.specialization = Specialization{std::move(*conditions), plan.directives};
        const bool keep_whole = plan.computes_others(0) || !own_staged.empty();
        other.short_loops = keep_whole ? ShortLoops::UnitTiles : ShortLoops::Guarded;
        KernelThreads other_kernel = kernel_before;
        make_loops(other, other_kernel);
        make_blocks_and_threads(other);
    }
    const std::vector<Directive> &loops = specialize ? other.directives : plan.directives;
    result.directives.insert(result.directives.end(), loops.begin(), loops.end());
    std::move(own_staged.begin(), own_staged.end(), std::back_inserter(staged));
    if (plan.stage->index == 0 && plan.outermost->vector_dim > 0 && !plan.func->keeps_storage) {
        result.directives.push_back(storage_order(plan));
    }
    return result;
}

}  // namespace

ScheduleTrace lower_schedule(const LoopNest &root,
                             const PipelineGraph &graph,
                             const GpuDevice &device,
                             const LoweringOptions &options) {
    return ScheduleLowering(graph, device, options).lower(root);
}

}  // namespace anderson2021
