#include "featurizer/outside_layout.h"

#include "support/error.h"

namespace anderson2021 {

namespace {

// Stand where a vector dimension, which is at least -1, would be.
constexpr int32_t kUnscheduled = -2;
constexpr int32_t kUnscheduledAt = -3;

}  // namespace

RootPlacement::RootPlacement(const PipelineGraph &graph, const LoopNest &root)
    : vector_dims_(static_cast<size_t>(graph.num_funcs()), kNone) {
    for (const LoopNestPtr &child : root.children) {
        vector_dims_[static_cast<size_t>(child->func)] = child->vector_dim;
    }
    bool gap = false;
    for (const FuncNode &f : graph.funcs) {
        if (!f.is_input) {
            const bool placed = root.computes(f.id);
            follows_graph_order_ = follows_graph_order_ && !(gap && placed);
            gap = gap || !placed;
        }
    }
}

std::optional<int> RootPlacement::vector_dim(int func) const {
    const int v = vector_dims_[static_cast<size_t>(func)];
    return v == kNone ? std::nullopt : std::make_optional(v);
}

OutsideLayout outside_layout(const PipelineGraph &graph,
                             const LoopNest &block,
                             const RootPlacement &placement,
                             const Sites *sites) {
    ANDERSON_CHECK(sites != nullptr || placement.follows_graph_order())
        << "Guesses may depend on more than the block.";
    OutsideLayout layout;
    BitSet behind(graph.num_funcs());
    // Consumers come first, so one pass also meets everything behind unscheduled Funcs.
    for (const FuncNode &f : graph.funcs) {
        if (f.is_input || block.computes(f.id) || !(block.calls(f.id) || behind.contains(f.id))) {
            continue;
        }
        layout.push_back(f.id);
        if (const std::optional<int> v = placement.vector_dim(f.id)) {
            layout.push_back(*v);
            continue;
        }
        if (sites == nullptr) {
            layout.push_back(kUnscheduled);
        } else {
            // Within a block, stage and depth tell a nest from all others.
            const LoopNest &site = *sites->of(f.stages[0].id).compute;
            layout.push_back(kUnscheduledAt);
            layout.push_back(site.is_root() ? -1 : site.stage_id);
            layout.push_back(site.is_root() ? 0 : sites->place(&site).depth);
        }
        for (const StageNode &s : f.stages) {
            for (const int e : s.incoming_edges) {
                behind.insert(graph.edge(e).producer);
            }
        }
    }
    return layout;
}

BitSet open_funcs(const PipelineGraph &graph,
                  const LoopNest &block,
                  const RootPlacement &placement,
                  const std::vector<BitSet> &upstream) {
    BitSet called = block.called();
    called.remove(block.computed());
    BitSet open(graph.num_funcs());
    called.for_each([&](int f) {
        if (!graph.func(f).is_input && !placement.vector_dim(f)) {
            open.insert(f);
            // Consumers come first, so nothing upstream of it is placed either.
            open.insert(upstream[static_cast<size_t>(f)]);
        }
    });
    return open;
}

OutsideLayout outside_layout(const PipelineGraph &graph,
                             const LoopNest &block,
                             const RootPlacement &placement,
                             const BitSet &open) {
    OutsideLayout layout;
    BitSet called = block.called();
    called.remove(block.computed());
    layout.reserve(2 * static_cast<size_t>(called.count() + open.count()));
    // Placed Funcs precede open ones.
    called.for_each([&](int f) {
        const std::optional<int> v = placement.vector_dim(f);
        if (v && !graph.func(f).is_input) {
            layout.push_back(f);
            layout.push_back(*v);
        }
    });
    open.for_each([&](int f) {
        if (!graph.func(f).is_input) {
            layout.push_back(f);
            layout.push_back(kUnscheduled);
        }
    });
    return layout;
}

}  // namespace anderson2021
