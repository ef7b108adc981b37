#include "featurizer/state_reduction.h"

#include <algorithm>

#include "featurizer/groups/extents.h"

namespace anderson2021 {

namespace {

double stored_at_root(const PipelineGraph &graph,
                      const LoopNest &root,
                      StoreSets store_sets,
                      const FeatureMatrix &matrix) {
    double bytes = 0;
    root.for_each_stored(store_sets == StoreSets::EveryAncestor, [&](int f) {
        const int stage = graph.func(f).stages[0].id;
        bytes += matrix.has(stage) ? matrix.row(stage).bytes_at_production : 0;
    });
    return bytes;
}

}  // namespace

ProgramFacts::ProgramFacts(const PipelineGraph &graph, const NestRegions &root)
    : graph_(graph), root_(root), minimum_points_(static_cast<size_t>(graph.num_stages())) {
    for (const FuncNode &func : graph.funcs) {
        if (func.is_input) {
            continue;
        }
        const FuncRegion &region = root.of(func.id);
        for (const StageNode &stage : func.stages) {
            double points = 1;
            for (size_t i = 0; i < stage.loops.size(); i++) {
                points *=
                    static_cast<double>(region.loop(stage.index, static_cast<int>(i)).extent());
            }
            if (func.num_stages() == 1 && !func.is_output) {
                // Nobody has to compute it more often than it is called. Consumers come first.
                double calls = 0;
                for (const int id : func.outgoing_edges) {
                    const Edge &edge = graph.edge(id);
                    calls += minimum_points_[static_cast<size_t>(edge.consumer_stage)] *
                             static_cast<double>(edge.calls);
                }
                points = std::min(points, calls);
            }
            minimum_points_[static_cast<size_t>(stage.id)] = points;
        }
    }
}

void ProgramFacts::write(int stage_id, int vector_dim, ScheduleFeatures &f) const {
    const FuncRegion &region = root_.of(graph_.stage(stage_id).func);
    f.points_computed_minimum = minimum_points_[static_cast<size_t>(stage_id)];
    f.bytes_at_root = bytes_computed(region);
    f.innermost_bytes_at_root = innermost_bytes_computed(region, vector_dim);
}

FeatureMatrix reduce_blocks(const PipelineGraph &graph,
                            const ProgramFacts &facts,
                            const LoopNest &root,
                            const std::vector<std::shared_ptr<const BlockFeatures>> &blocks,
                            StoreSets store_sets) {
    FeatureMatrix matrix(graph.num_stages());
    std::vector<InlinedSums> inlined(static_cast<size_t>(graph.num_funcs()));
    double working_set = 0;
    for (const auto &block : blocks) {
        working_set += block->working_set;
        for (const BlockRow &row : block->rows) {
            matrix.get_or_create(row.stage_id) = row.features;
        }
        for (const InlinedSums &sums : block->inlined) {
            InlinedSums &all = inlined[static_cast<size_t>(sums.func)];
            if (all.func < 0) {
                all = sums;
            } else {
                add_inlined(all, sums);
            }
        }
    }
    working_set += stored_at_root(graph, root, store_sets, matrix);

    for (const InlinedSums &sums : inlined) {
        if (sums.func >= 0) {
            const int stage = graph.func(sums.func).stages[0].id;
            ScheduleFeatures &f = matrix.get_or_create(stage);
            write_inlined(sums, f);
            // Compat: the vector dimension of the consumer, not one of its own.
            facts.write(stage, sums.vector_dim, f);
            f.working_set_at_root = working_set;
        }
    }
    for (const auto &block : blocks) {
        for (const BlockRow &row : block->rows) {
            ScheduleFeatures &f = matrix.get_or_create(row.stage_id);
            facts.write(row.stage_id, row.vector_dim, f);
            f.working_set_at_root = working_set;
            if (store_sets == StoreSets::EveryAncestor) {
                f.working_set_at_realization = working_set;
            }
        }
    }
    for (const LoopNestPtr &child : root.children) {
        ScheduleFeatures &f = matrix.get_or_create(child->stage_id);
        f.working_set_at_production = working_set;
        f.working_set_at_realization = working_set;
    }
    return matrix;
}

}  // namespace anderson2021
