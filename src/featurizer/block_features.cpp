#include "featurizer/block_features.h"

#include <algorithm>
#include <cstring>

namespace anderson2021 {

namespace {

/// How a nest is reached.
struct Arrival {
    const LoopNest *grandparent = nullptr;
    const LoopNest &parent;
    int64_t instances = 1;
    int64_t outer_tasks = 1;
    GpuContext gpu;
};

class BlockWalk {
public:
    BlockWalk(const FeatureEnvironment &env, AccessPlans &plans, StoreSets store_sets)
        : env_(env), plans_(plans), store_sets_(store_sets),
          row_of_stage_(static_cast<size_t>(env.graph.num_stages()), 0),
          plan_of_stage_(static_cast<size_t>(env.graph.num_stages()), nullptr) {}

    BlockFeatures run(const LoopNest &root, const LoopNest &block) {
        // Growing would copy the rows; but for updates there is one per Func.
        result_.rows.reserve(static_cast<size_t>(block.stored_below().count()) + 1);
        result_.working_set = visit(block, {nullptr, root, 1, 1, {}});
        for (BlockRow &row : result_.rows) {
            row.features.working_set_at_task = result_.working_set;
        }
        return std::move(result_);
    }

private:
    /// Returns the bytes stored inside the nest.
    double visit(const LoopNest &nest, const Arrival &arrival) {
        const StageNode &stage = env_.graph.stage(nest.stage_id);
        LoopContext at{env_,
                       nest,
                       arrival.parent,
                       arrival.grandparent,
                       env_.graph.func(nest.func),
                       stage,
                       plan(nest.stage_id),
                       arrival.gpu,
                       arrival.instances,
                       saturating_multiply(arrival.instances, nest.iterations()),
                       arrival.outer_tasks,
                       count_parallel_tasks(nest, stage, env_.parallelism)};
        SerialLevel serial;
        at.gpu.enter(nest, serial);
        WarpLayout layout;
        if (nest.axis == GpuAxis::Thread) {
            layout = make_layout(at);
            at.gpu.layout = &layout;
        }
        descend(at);
        double stored = 0;
        for (const LoopNestPtr &child : nest.children) {
            stored += visit(*child,
                            {&at.parent,
                             nest,
                             at.sub_instances,
                             saturating_multiply(at.outer_tasks, at.tasks),
                             at.gpu});
        }
        stored += bytes_stored_at(nest);
        ascend(at, stored);
        return stored;
    }

    WarpLayout make_layout(const LoopContext &at) const {
        const LoopNest &block = at.gpu.block != nullptr ? *at.gpu.block : at.nest;
        return make_warp_layout(at.nest.size,
                                at.nest.lane_loop,
                                at.gpu.block != nullptr ? block.union_thread_extents()
                                                        : block.lowered_sizes(),
                                env_.device);
    }

    /// What is known before the children are visited; they may rely on it.
    void descend(const LoopContext &at) {
        if (at.starts_func()) {
            add_row(at.nest);
        }
        ScheduleFeatures &f = row(at.stage.id);
        if (at.starts_func()) {
            add_realization(at, f);
            add_production(at, f);
        }
        if (!at.nest.innermost) {
            add_loop_extents(at, f);
        }
        if (at.is_task()) {
            add_task(at, f);
        }
    }

    /// What needs the children, or is the business of leaves.
    void ascend(const LoopContext &at, double stored) {
        add_working_sets(at.nest, stored);
        ScheduleFeatures &f = row(at.stage.id);
        if (at.starts_func()) {
            f.working_set = stored;
            add_realization_footprint(at, f);
        }
        if (at.nest.axis == GpuAxis::Thread) {
            f.working_set_at_thread = stored;
        }
        if (at.nest.axis == GpuAxis::Block) {
            add_shared_occupancy(at, f);
        }
        if (at.nest.innermost) {
            add_leaf_loops(at, f);
            add_point_footprint(at, f);
            add_memory_traffic(at, f);
            add_occupancy(at, f);
            for (const InlinedCall &call : at.nest.inlined) {
                add_inlined_call(inlined_into(at, f, call));
            }
        }
    }

    /// Bytes of the Funcs stored in the nest itself.
    double bytes_stored_at(const LoopNest &nest) {
        double bytes = 0;
        nest.for_each_stored(store_sets_ == StoreSets::EveryAncestor, [&](int f) {
            bytes += row(env_.graph.func(f).stages[0].id).bytes_at_production;
        });
        return bytes;
    }

    void add_working_sets(const LoopNest &nest, double stored) {
        for (const LoopNestPtr &child : nest.children) {
            if (child->func != nest.func) {
                ScheduleFeatures &f = row(child->stage_id);
                f.working_set_at_production = stored;
                f.working_set_at_realization = stored;
            }
        }
    }

    void add_inlined_call(const InlinedSums &sums) {
        for (InlinedSums &known : result_.inlined) {
            if (known.func == sums.func) {
                add_inlined(known, sums);
                return;
            }
        }
        result_.inlined.push_back(sums);
    }

    void add_row(const LoopNest &nest) {
        row_of_stage_[static_cast<size_t>(nest.stage_id)] = result_.rows.size();
        result_.rows.push_back({nest.stage_id, nest.vector_dim, {}});
    }
    /// Valid until the next row is added.
    ScheduleFeatures &row(int stage_id) {
        return result_.rows[row_of_stage_[static_cast<size_t>(stage_id)]].features;
    }

    const AccessPlan &plan(int stage_id) {
        AccessPlanPtr &known = plan_of_stage_[static_cast<size_t>(stage_id)];
        if (known == nullptr) {
            known = plans_.of_leaf(*env_.sites.of(stage_id).innermost);
        }
        return *known;
    }

    const FeatureEnvironment &env_;
    AccessPlans &plans_;
    const StoreSets store_sets_;
    BlockFeatures result_;
    // Per stage id, once its outermost nest has been reached: index into result_.rows.
    SmallVector<size_t, 16> row_of_stage_;
    SmallVector<AccessPlanPtr, 16> plan_of_stage_;
};

}  // namespace

bool identical(const BlockFeatures &a, const BlockFeatures &b) {
    const auto same_row = [](const BlockRow &x, const BlockRow &y) {
        return x.stage_id == y.stage_id && x.vector_dim == y.vector_dim &&
               std::memcmp(&x.features, &y.features, sizeof(ScheduleFeatures)) == 0;
    };
    const auto same_sums = [](const InlinedSums &x, const InlinedSums &y) {
        return x.func == y.func && x.calls == y.calls && x.num_scalars == y.num_scalars &&
               x.innermost_pure_loop_extent == y.innermost_pure_loop_extent && x.tasks == y.tasks &&
               x.warps == y.warps && x.threads == y.threads &&
               x.points_per_thread == y.points_per_thread && x.vector_dim == y.vector_dim;
    };
    return a.working_set == b.working_set &&
           std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), same_row) &&
           std::equal(
               a.inlined.begin(), a.inlined.end(), b.inlined.begin(), b.inlined.end(), same_sums);
}

BlockFeatures featurize_block(const FeatureEnvironment &env,
                              AccessPlans &plans,
                              const LoopNest &root,
                              const LoopNest &block,
                              StoreSets store_sets) {
    return BlockWalk(env, plans, store_sets).run(root, block);
}

}  // namespace anderson2021
