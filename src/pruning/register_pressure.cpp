#include "pruning/register_pressure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace anderson2021 {

namespace {

constexpr int64_t kRegisterBytes = 4;

class TaskWalk {
public:
    TaskWalk(const PipelineGraph &graph, const GpuDevice &device)
        : graph_(graph), device_(device), in_thread_(graph.num_funcs()),
          in_block_(graph.num_funcs()) {}

    std::vector<RegisterUse> run(const LoopNest &task) {
        visit(task, false);
        for (RegisterUse &use : result_) {
            use.open_extents = open_extents_;
        }
        return std::move(result_);
    }

private:
    void visit(const LoopNest &nest, bool in_thread) {
        in_thread = in_thread || nest.axis == GpuAxis::Thread;
        int64_t stored = 0;
        for (const int f : nest.store_set()) {
            (in_thread ? in_thread_ : in_block_).insert(f);
            const FuncRegion &region = nest.regions->of(f);
            if (in_thread) {
                stored += region.bytes_computed() / kRegisterBytes;
            }
            for (int d = 0; d < graph_.func(f).dims(); d++) {
                open_extents_ += region.required(d).exact ? 0 : 1;
            }
        }
        stored_ += stored;
        for (const LoopNestPtr &c : nest.children) {
            if (!c->innermost) {
                visit(*c, in_thread);
            } else if (nest.axis == GpuAxis::Serial) {
                add_leaf(nest, *c);
            }
        }
        stored_ -= stored;
    }

    void add_leaf(const LoopNest &level, const LoopNest &leaf) {
        const StageNode &stage = graph_.stage(leaf.stage_id);
        RegisterUse use;
        use.stage_id = stage.id;
        use.stored = stored_;
        for (size_t i = 0; i < stage.loops.size(); i++) {
            use.points *= stage.loops[i].rvar ? 1 : level.size[i];
        }
        const bool unrolls = use.points <= device_.unroll_limit;
        FuncRegion tile = level.regions->own();
        for (size_t i = 0; i < stage.loops.size(); i++) {
            Span &span = tile.loop(stage.index, static_cast<int>(i));
            const bool inside = unrolls && !stage.loops[i].rvar;
            span.max = span.min + (inside ? level.size[i] : 1) - 1;
            use.repeats = use.repeats || (!inside && level.size[i] > 1);
        }
        use.points = unrolls ? use.points : 1;
        add_reads(leaf, tile, use);
        result_.push_back(use);
    }

    /// Everything that the code of a leaf reads, directly or in the bodies of inlined Funcs.
    void add_reads(const LoopNest &leaf, const FuncRegion &tile, RegisterUse &use) {
        // Consumers come first, so the region of an inlined Func is complete when it is needed.
        std::map<int, FuncRegion> inlined;
        leaf.called().for_each([&](int f) {
            const FuncNode &func = graph_.func(f);
            const int64_t copies = leaf.num_inlined_calls(f);
            FuncRegion required(func);
            for (const int e : func.outgoing_edges) {
                const Edge &edge = graph_.edge(e);
                const auto reader = inlined.find(edge.consumer_func);
                if (edge.consumer_stage == leaf.stage_id) {
                    const Span *const loops = tile.loops(leaf.stage_index);
                    expand(edge, loops, required);
                    add_edge(edge, loops, copies > 0 ? 0 : use.points, use);
                } else if (reader != inlined.end()) {
                    const Span *const loops = reader->second.loops(0);
                    const int64_t times = leaf.num_inlined_calls(edge.consumer_func) * use.points;
                    expand(edge, loops, required);
                    add_edge(edge, loops, copies > 0 ? 0 : times, use);
                }
            }
            if (copies > 0) {
                required.derive_from_required();
                inlined.emplace(f, std::move(required));
            }
        });
    }

    static void expand(const Edge &edge, const Span *loops, FuncRegion &region) {
        if (region.func().dims() > 0) {
            expand_footprint(edge, loops, &region.required(0));
        }
    }

    /// One edge whose consumer is evaluated `times` times.
    void add_edge(const Edge &edge, const Span *loops, int64_t times, RegisterUse &use) {
        const FuncNode &func = graph_.func(edge.producer);
        const int64_t reads = edge.calls * times;
        use.reads += reads;
        if (reads == 0 || in_thread_.contains(func.id)) {
            return;
        }
        if (edge.load_jacobians.empty() || !edge.all_load_jacobians_exist()) {
            use.gathers += reads;
            return;
        }
        FuncRegion box(func);
        expand(edge, loops, box);
        int64_t rows = 1;
        for (int d = 1; d < func.dims(); d++) {
            const int64_t extent = std::max<int64_t>(1, box.required(d).extent());
            rows = std::min(rows * std::min(extent, reads), reads);
        }
        (in_block_.contains(func.id) ? use.shared_rows : use.global_rows) += rows;
    }

    const PipelineGraph &graph_;
    const GpuDevice &device_;
    BitSet in_thread_, in_block_;
    // In the nests around the current one.
    int64_t stored_ = 0;
    // In all nests so far.
    int64_t open_extents_ = 0;
    std::vector<RegisterUse> result_;
};

}  // namespace

std::vector<RegisterUse>
register_use(const LoopNest &task, const PipelineGraph &graph, const GpuDevice &device) {
    return TaskWalk(graph, device).run(task);
}

int64_t registers_needed(const RegisterUse &use) {
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    double registers = number(use.stored) + 3.25 * number(use.points) +
                       1.5 * number(use.global_rows) + 2.75 * number(use.gathers) +
                       0.05 * number(use.reads);
    if (use.repeats) {
        // Sums, and addresses that would have to be computed again in every iteration.
        registers += 2.5 * number(use.points) + 1.75 * number(use.shared_rows) +
                     3.75 * number(use.gathers) + 2.75 * number(use.open_extents);
    }
    return static_cast<int64_t>(std::ceil(registers));
}

int64_t
registers_needed(const LoopNest &task, const PipelineGraph &graph, const GpuDevice &device) {
    int64_t most = 0;
    for (const RegisterUse &use : register_use(task, graph, device)) {
        most = std::max(most, registers_needed(use));
    }
    return most;
}

}  // namespace anderson2021
