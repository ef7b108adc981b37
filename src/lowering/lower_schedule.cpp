// Lowering proceeds in three steps: a walk over the tree collects one plan per stage, enclosing
// stages first; each plan is then turned into loops and directives, which needs the loops of the
// plans around it only for their names; finally the directives are put into graph order.
#include "lowering/lower_schedule.h"

#include <algorithm>
#include <utility>

#include "lowering/block_mapping.h"
#include "lowering/loop_splits.h"
#include "lowering/stage_plan.h"
#include "lowering/staging.h"
#include "lowering/tail_rules.h"
#include "lowering/thread_mapping.h"

namespace anderson2021 {

namespace {

/// Makes the vector dimension the innermost one in memory.
void state_storage_order(StagePlan &plan) {
    std::vector<VarRef> order;
    for (int d = 0; d < plan.func->dims(); d++) {
        for (const LoopDim &loop : plan.stage->loops) {
            if (loop.pure_dim == d) {
                const VarRef var{loop.var, false, loop.dims_index};
                order.insert(d == plan.outermost->vector_dim ? order.begin() : order.end(), var);
            }
        }
    }
    plan.add(Directive::Kind::ReorderStorage, std::move(order));
}

class ScheduleLowering {
public:
    ScheduleLowering(const PipelineGraph &graph,
                     const GpuDevice &device,
                     const LoweringOptions &options)
        : graph_(graph), device_(device), options_(options), tails_(graph) {}

    ScheduleTrace lower(const LoopNest &root) {
        for (const LoopNestPtr &c : root.children) {
            collect(*c, root, {-1, -1, -1, false});
        }
        ScheduleTrace trace;
        for (StagePlan &plan : plans_) {
            make_loops(plan);
            StageDirectives stage;
            stage.func = plan.func->id;
            stage.stage_index = plan.stage->index;
            stage.directives = plan.directives;
            trace.stages.push_back(std::move(stage));
        }
        std::stable_sort(trace.stages.begin(),
                         trace.stages.end(),
                         [](const StageDirectives &a, const StageDirectives &b) {
                             return std::pair(a.func, a.stage_index) <
                                    std::pair(b.func, b.stage_index);
                         });
        collect_staged(trace);
        return trace;
    }

private:
    /// Where a stage is computed.
    struct Place {
        int plan = -1;
        int level = -1;
        int task = -1;
        bool in_thread = false;
    };

    void collect(const LoopNest &outermost, const LoopNest &parent, const Place &place);
    void collect_children(int plan);
    void make_loops(StagePlan &plan);
    void state_compute_level(StagePlan &plan) const;
    void collect_staged(ScheduleTrace &trace) const;
    const StagePlan *plan_of(const StageDirectives &stage) const;

    const PipelineGraph &graph_;
    const GpuDevice &device_;
    const LoweringOptions &options_;
    const TailRules tails_;
    std::vector<StagePlan> plans_;
    /// Per plan of a root stage.
    std::vector<KernelThreads> kernels_;
    /// Funcs inlined anywhere.
    BitSet inlined_;
};

void ScheduleLowering::collect(const LoopNest &outermost,
                               const LoopNest &parent,
                               const Place &place) {
    if (graph_.func(outermost.func).is_input) {
        return;
    }
    const int id = static_cast<int>(plans_.size());
    plans_.push_back(make_stage_plan(graph_, outermost, parent));
    kernels_.emplace_back(device_);
    StagePlan &plan = plans_.back();
    plan.site_plan = place.plan;
    plan.site_level = place.level;
    plan.task = place.task < 0 ? id : place.task;
    plan.in_thread = place.in_thread;
    if (plan.at_root()) {
        // Without a pure Var there is nothing to be distributed.
        plan.in_thread = std::all_of(plan.stage->loops.begin(),
                                     plan.stage->loops.end(),
                                     [](const LoopDim &d) { return d.rvar; });
        if (!plan.in_thread) {
            spread_blocks_over_threads(plan, device_);
        }
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

void ScheduleLowering::state_compute_level(StagePlan &plan) const {
    if (plan.stage->index != 0) {
        return;
    }
    if (plan.at_root()) {
        plan.add(Directive::Kind::ComputeRoot, {});
        return;
    }
    const StagePlan &site = plans_[static_cast<size_t>(plan.site_plan)];
    plan.add(Directive::Kind::ComputeAt, {innermost_var(site, plan.site_level)});
    Directive &d = plan.directives.back();
    d.at_func = site.func->id;
    d.at_stage = site.func->num_stages() > 1 ? site.stage->index : -1;
}

void ScheduleLowering::make_loops(StagePlan &plan) {
    state_compute_level(plan);
    if (plan.func->is_extern) {
        return;
    }
    split_loops(plan, tails_);
    unroll_innermost(plan, tails_, device_.unroll_limit);
    if (plan.at_root() && !plan.in_thread) {
        move_single_trips_inside_blocks(plan);
    }
    choose_threads(plan, kernels_[static_cast<size_t>(plan.task)]);
    reorder_loops(plan);
    if (plan.at_root()) {
        map_blocks(plan, device_);
    }
    for (const VarRef &v : plan.thread_vars) {
        plan.add(Directive::Kind::GpuThreads, {v});
    }
    if (plan.stage->index == 0 && plan.outermost->vector_dim > 0) {
        state_storage_order(plan);
    }
}

void ScheduleLowering::collect_staged(ScheduleTrace &trace) const {
    for (const StageDirectives &s : trace.stages) {
        const StagePlan &plan = *plan_of(s);
        for (StagedProducer &staged :
             stage_producers(plan, graph_, inlined_, options_.max_staged_values)) {
            trace.staged.push_back(std::move(staged));
        }
    }
}

const StagePlan *ScheduleLowering::plan_of(const StageDirectives &stage) const {
    for (const StagePlan &plan : plans_) {
        if (plan.func->id == stage.func && plan.stage->index == stage.stage_index) {
            return &plan;
        }
    }
    return nullptr;
}

}  // namespace

ScheduleTrace lower_schedule(const LoopNest &root,
                             const PipelineGraph &graph,
                             const GpuDevice &device,
                             const LoweringOptions &options) {
    return ScheduleLowering(graph, device, options).lower(root);
}

}  // namespace anderson2021
