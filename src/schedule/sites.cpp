#include "schedule/sites.h"

#include <algorithm>
#include <functional>

#include "schedule/unrolling.h"
#include "support/error.h"

namespace anderson2021 {

/// Fills a Sites object in the order in which its parts depend on each other.
class SitesBuilder {
public:
    SitesBuilder(Sites &out, const LoopNest &root, const GpuDevice &device, bool reference_features)
        : out_(out), graph_(out.graph_), root_(root), device_(device),
          reference_features_(reference_features) {}

    void build() {
        walk(root_, {nullptr, 0, 1, root_.iterations()}, nullptr, false);
        sort_places();
        promote_to_registers();
        if (out_.failure_) {
            return;
        }
        for (const FuncNode &f : graph_.funcs) {
            if (!has_site(f) && (f.is_input || f.is_output || f.outgoing_edges.empty())) {
                set_guess(f, &root_, 1);
            }
        }
        // Consumers come first, so their sites are known.
        for (const FuncNode &f : graph_.funcs) {
            if (!has_site(f)) {
                guess(f);
            }
        }
    }

    void build_for(const LoopNest &unblocked, const LoopNest &block, const BitSet &open) {
        const NestPlace at{nullptr, 0, 1, root_.iterations()};
        out_.places_.reserve(block.num_nests() + 1);
        out_.places_.emplace_back(&root_, at);
        walk(block,
             {&root_, 1, at.sub_instances, at.sub_instances * block.iterations()},
             &block,
             false);
        sort_places();
        store_at_root(block.func);
        // Before the others get sites, which nothing in the block can depend on.
        promote_to_registers();
        if (out_.failure_) {
            return;
        }
        BitSet elsewhere(graph_.num_funcs());
        for (const LoopNestPtr &c : root_.children) {
            if (c.get() != &unblocked) {
                elsewhere.insert(c->computed());
                set_outside(*c);
            }
        }
        elsewhere.for_each([&](int f) { set_elsewhere(graph_.func(f)); });
        for (const FuncNode &f : graph_.funcs) {
            if (!has_site(f) &&
                (f.is_input || f.is_output || f.outgoing_edges.empty() || !open.contains(f.id))) {
                set_guess(f, &root_, 1);
            }
        }
        for (const FuncNode &f : graph_.funcs) {
            if (!has_site(f)) {
                guess(f);
            }
        }
    }

private:
    /// Nests can be looked up from here on.
    void sort_places() {
        std::sort(out_.places_.begin(), out_.places_.end(), [](const auto &a, const auto &b) {
            return std::less<>()(a.first, b.first);
        });
    }

    /// Another child of the root: for the block it is a Func in global memory.
    void set_outside(const LoopNest &child) {
        Site &s = site(child.stage_id);
        s.scheduled = true;
        s.compute = &root_;
        s.produce = s.task = &child;
        store_at_root(child.func);
    }

    void store_at_root(int func) {
        for (const StageNode &stage : graph_.func(func).stages) {
            Site &s = site(stage.id);
            s.store = &root_;
            s.memory = MemoryType::Global;
        }
    }

    /// What other children of the root compute has no place in common with the block but the root.
    void set_elsewhere(const FuncNode &f) {
        for (const StageNode &stage : f.stages) {
            Site &s = site(stage.id);
            if (s.inlined) {
                s.leaves.push_back(&root_);
            } else if (s.innermost == nullptr) {
                s.innermost = &root_;
                s.compute = s.compute == nullptr ? &root_ : s.compute;
            }
        }
    }

    Site &site(int stage_id) { return out_.sites_[static_cast<size_t>(stage_id)]; }
    const NestPlace &place(const LoopNest *nest) const { return out_.place(nest); }
    bool has_site(const FuncNode &f) { return site(f.stages[0].id).compute != nullptr; }

    void walk(const LoopNest &nest, const NestPlace &at, const LoopNest *task, bool in_thread) {
        out_.places_.emplace_back(&nest, at);
        in_thread = in_thread || nest.axis == GpuAxis::Thread;
        for (const LoopNestPtr &c : nest.children) {
            const NestPlace below{
                &nest, at.depth + 1, at.sub_instances, at.sub_instances * c->iterations()};
            walk(*c, below, nest.is_root() ? c.get() : task, in_thread);
        }
        if (at.parent != nullptr && at.parent->func != nest.func) {
            Site &s = site(nest.stage_id);
            s.scheduled = true;
            s.compute = at.parent;
            s.produce = &nest;
            s.task = task;
        }
        store_here(nest, in_thread);
        for (const InlinedCall &c : nest.inlined) {
            Site &s = site(graph_.func(c.func).stages[0].id);
            s.inlined = true;
            s.memory = MemoryType::Inlined;
            s.compute = s.store = s.produce = s.innermost = &nest;
            s.task = task;
            s.leaves.push_back(&nest);
        }
        if (nest.innermost) {
            site(nest.stage_id).innermost = &nest;
        }
    }

    /// Children come before their parents, so with several levels the outermost one counts.
    void store_here(const LoopNest &nest, bool in_thread) {
        nest.for_each_stored(reference_features_, [&](int f) {
            for (const StageNode &stage : graph_.func(f).stages) {
                Site &s = site(stage.id);
                s.store = &nest;
                s.memory = in_thread        ? MemoryType::Local
                           : nest.is_root() ? MemoryType::Global
                                            : MemoryType::Shared;
            }
            if (nest.axis == GpuAxis::Block) {
                out_.shared_total_[&nest] += nest.regions->of(f).bytes_computed();
            }
        });
    }

    void promote_to_registers() {
        std::vector<bool> promotable(static_cast<size_t>(graph_.num_funcs()), true);
        bool any = false;
        for (const FuncNode &f : graph_.funcs) {
            const Site &s = site(f.stages[0].id);
            if (s.memory == MemoryType::Local) {
                any = true;
                promotable[static_cast<size_t>(f.id)] =
                    fits_registers(s.compute->regions->of(f.id));
            }
        }
        if (!any) {
            return;
        }
        for (int stage = 0; stage < graph_.num_stages(); stage++) {
            if (site(stage).scheduled) {
                check_accesses(graph_.stage(stage), promotable);
            }
        }
        for (const FuncNode &f : graph_.funcs) {
            if (site(f.stages[0].id).memory != MemoryType::Local) {
                continue;
            }
            if (!promotable[static_cast<size_t>(f.id)]) {
                out_.failure_ = PromotionFailure{f.id};
                return;
            }
            for (const StageNode &stage : f.stages) {
                site(stage.id).memory = MemoryType::Registers;
            }
        }
    }

    bool fits_registers(const FuncRegion &region) const {
        for (int d = 0; d < region.func().dims(); d++) {
            if (!region.computed(d).constant) {
                return false;
            }
        }
        return region.bytes_computed() <= device_.register_allocation_bytes;
    }

    /// Registers have no addresses: whatever selects an element must be unrolled away. Only the
    /// stage's own accesses are looked at, not those of Funcs inlined into it.
    void check_accesses(const StageNode &stage, std::vector<bool> &promotable) {
        const LoopNest *const serial = place(site(stage.id).innermost).parent;
        const LoopNest *const above = place(serial).parent;
        std::optional<BitSet> unrolled;
        for (const int e : stage.incoming_edges) {
            const Edge &edge = graph_.edge(e);
            if (site(graph_.func(edge.producer).stages[0].id).memory != MemoryType::Local) {
                continue;
            }
            if (!unrolled) {
                unrolled = unrolled_loops(stage, *above, device_);
            }
            for (const AccessJacobian &jacobian : edge.load_jacobians) {
                for (int j = 0; j < jacobian.cols(); j++) {
                    const bool harmless = jacobian.column_is_zero(j) ||
                                          (unrolled->contains(j) && column_is_known(jacobian, j));
                    if (!harmless) {
                        promotable[static_cast<size_t>(edge.producer)] = false;
                    }
                }
            }
        }
    }

    static bool column_is_known(const AccessJacobian &jacobian, int col) {
        for (int i = 0; i < jacobian.rows(); i++) {
            if (!jacobian.at(i, col).exists()) {
                return false;
            }
        }
        return true;
    }

    void set_guess(const FuncNode &f, const LoopNest *nest, int64_t num_realizations) {
        const LoopNest *store = nest;
        MemoryType memory = MemoryType::Global;
        for (const LoopNest *n = nest; n != nullptr; n = place(n).parent) {
            if (n->axis == GpuAxis::Thread) {
                memory = MemoryType::Registers;
                break;
            }
            if (n->axis == GpuAxis::Block) {
                memory = MemoryType::Shared;
                store = n;
                break;
            }
        }
        if (nest->is_root()) {
            store = nest;
        } else if (memory == MemoryType::Global) {
            store = &root_;
        }
        for (const StageNode &stage : f.stages) {
            Site &s = site(stage.id);
            s.compute = nest;
            s.store = store;
            s.memory = memory;
            s.num_realizations = num_realizations;
        }
    }

    /// Deepest nest that surely encloses both. Compat: one level too high if one of the two
    /// encloses the other.
    const LoopNest *common_nest(const LoopNest *a, const LoopNest *b) const {
        if (a->is_root() || b->is_root()) {
            return &root_;
        }
        if (a == b) {
            return a;
        }
        while (place(a).depth > place(b).depth) {
            a = place(a).parent;
        }
        while (place(b).depth > place(a).depth) {
            b = place(b).parent;
        }
        do {
            a = place(a).parent;
            b = place(b).parent;
        } while (a != b);
        return a;
    }

    const LoopNest *common_nest_of_consumers(const FuncNode &f) {
        const LoopNest *common = nullptr;
        const auto include = [&](const LoopNest *nest) {
            common = common == nullptr ? nest : common_nest(nest, common);
        };
        for (const int e : f.outgoing_edges) {
            const Site &consumer = site(graph_.edge(e).consumer_stage);
            if (consumer.inlined) {
                for (const LoopNest *leaf : consumer.leaves) {
                    include(leaf);
                }
            } else {
                include(consumer.innermost != nullptr ? consumer.innermost : consumer.compute);
            }
        }
        return common;
    }

    bool fits_at(const LoopNest &nest, int64_t bytes) const {
        switch (nest.axis) {
        case GpuAxis::Block:
            return bytes + out_.shared_total(&nest) <= device_.shared_bytes_per_block;
        case GpuAxis::Thread:
        case GpuAxis::Serial:
            return bytes <= device_.register_allocation_bytes;
        default:
            return true;
        }
    }

    void guess(const FuncNode &f) {
        SmallVector<const LoopNest *, 8> path;
        for (const LoopNest *n = common_nest_of_consumers(f); !n->is_root(); n = place(n).parent) {
            if (!n->innermost) {
                path.push_back(n);
            }
        }
        const LoopNest *best = &root_;
        int64_t best_points = root_.regions->of(f.id).points_computed();
        for (size_t i = path.size(); i-- > 0;) {
            const LoopNest *const n = path[i];
            const FuncRegion &region = n->regions->of(f.id);
            if (!fits_at(*n, region.bytes_computed())) {
                continue;
            }
            if (region.points_computed() >= best_points) {
                break;
            }
            best = n;
            best_points = region.points_computed();
        }
        if (best->axis == GpuAxis::Block) {
            out_.shared_total_[best] += f.bytes_per_point * best_points;
        }
        set_guess(f, best, place(best).sub_instances);
    }

    Sites &out_;
    const PipelineGraph &graph_;
    const LoopNest &root_;
    const GpuDevice &device_;
    const bool reference_features_;
};

Sites::Sites(const PipelineGraph &graph,
             const LoopNest &root,
             const GpuDevice &device,
             bool reference_features)
    : graph_(graph), sites_(static_cast<size_t>(graph.num_stages())) {
    SitesBuilder(*this, root, device, reference_features).build();
}

Sites::Sites(const PipelineGraph &graph,
             const LoopNest &root,
             const LoopNest &unblocked,
             const LoopNest &block,
             const BitSet &open,
             const GpuDevice &device)
    : graph_(graph), sites_(static_cast<size_t>(graph.num_stages())) {
    SitesBuilder(*this, root, device, false).build_for(unblocked, block, open);
}

const NestPlace &Sites::place(const LoopNest *nest) const {
    const auto at = std::lower_bound(
        places_.begin(), places_.end(), nest, [](const auto &entry, const LoopNest *wanted) {
            return std::less<>()(entry.first, wanted);
        });
    ANDERSON_CHECK(at != places_.end() && at->first == nest) << "A nest of another tree";
    return at->second;
}

int64_t Sites::shared_total(const LoopNest *block) const {
    const auto at = shared_total_.find(block);
    return at == shared_total_.end() ? 0 : at->second;
}

}  // namespace anderson2021
