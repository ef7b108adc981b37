#include "schedule/nest_verifier.h"

#include <algorithm>
#include <unordered_map>

namespace anderson2021 {

namespace {

class Verifier {
public:
    Verifier(const LoopNest &root, const PipelineGraph &graph, const GpuDevice &device)
        : root_(root), graph_(graph), device_(device),
          sites_(static_cast<size_t>(graph.num_funcs())),
          inlined_at_(static_cast<size_t>(graph.num_funcs())),
          leaf_of_(static_cast<size_t>(graph.num_stages())) {}

    std::optional<std::string> verify() {
        if (!root_.is_root() || !root_.size.empty() || !root_.inlined.empty()) {
            return "The root belongs to no Func and has no loops of its own";
        }
        check_order(root_);
        walk(root_, nullptr, false);
        for (size_t i = 0; i < leaves_.size() && error_.empty(); i++) {
            check_inlined(*leaves_[i]);
        }
        for (const FuncNode &f : graph_.funcs) {
            if (error_.empty()) {
                check_placement(f);
            }
        }
        if (error_.empty()) {
            return std::nullopt;
        }
        return error_;
    }

private:
    /// Preorder numbers: `b` is inside `a` if a.enter <= b.enter < a.exit.
    struct Range {
        int enter = 0;
        int exit = 0;
    };

    void fail(const std::string &reason) {
        if (error_.empty()) {
            error_ = reason;
        }
    }

    std::string name(const LoopNest &nest) const {
        if (nest.is_root()) {
            return "the root";
        }
        return std::string("the ") + gpu_axis_name(nest.axis) + " level of " +
               graph_.stage(nest.stage_id).name;
    }

    bool inside(const LoopNest *outer, const LoopNest *inner) const {
        const Range &a = ranges_.at(outer);
        const Range &b = ranges_.at(inner);
        return a.enter <= b.enter && b.enter < a.exit;
    }

    void walk(const LoopNest &nest, const LoopNest *parent, bool in_thread) {
        if (!ranges_.emplace(&nest, Range{counter_, 0}).second) {
            return fail("A nest occurs twice in the tree");
        }
        counter_++;
        if (nest.regions == nullptr) {
            return fail("A nest without regions");
        }
        if (parent != nullptr) {
            if (!check_identity(nest)) {
                return;
            }
            check_label(nest, *parent, in_thread);
            check_order(nest);
            check_sizes(nest);
            if (parent->func != nest.func) {
                check_coverage(nest, *parent);
            }
        }
        if (nest.axis == GpuAxis::Block) {
            check_threads(nest);
        }
        if (nest.innermost) {
            leaves_.push_back(&nest);
            leaf_of_[static_cast<size_t>(nest.stage_id)] = &nest;
        } else if (!nest.inlined.empty()) {
            fail("Only leaves can have inlined Funcs, not " + name(nest));
        }
        for (const LoopNestPtr &c : nest.children) {
            walk(*c, &nest, in_thread || nest.axis == GpuAxis::Thread);
        }
        ranges_[&nest].exit = counter_;
    }

    bool check_identity(const LoopNest &nest) {
        if (nest.stage_id < 0 || nest.stage_id >= graph_.num_stages() ||
            graph_.stage(nest.stage_id).func != nest.func ||
            graph_.stage(nest.stage_id).index != nest.stage_index) {
            fail("A nest of an unknown stage");
            return false;
        }
        const StageNode &stage = graph_.stage(nest.stage_id);
        int lane = -1;
        for (size_t i = 0; i < stage.loops.size(); i++) {
            if (stage.loops[i].pure_dim >= 0 && stage.loops[i].pure_dim == nest.vector_dim) {
                lane = static_cast<int>(i);
            }
        }
        if (nest.size.size() != stage.loops.size()) {
            fail("Not one size per loop at " + name(nest));
        } else if (nest.vector_dim < 0 ||
                   nest.vector_dim >= std::max(graph_.func(nest.func).dims(), 1)) {
            fail("No such vector dimension at " + name(nest));
        } else if (nest.lane_loop != lane) {
            fail("The lane loop is not the loop over the vector dimension at " + name(nest));
        }
        return error_.empty();
    }

    void check_label(const LoopNest &nest, const LoopNest &parent, bool in_thread) {
        const bool own = parent.stage_id == nest.stage_id;
        bool fits = false;
        switch (nest.axis) {
        case GpuAxis::None:
        case GpuAxis::Block:
            fits = parent.is_root();
            break;
        case GpuAxis::Thread:
            // An untiled nest will run in one thread.
            fits = !in_thread && !parent.is_root() && parent.axis != GpuAxis::None;
            break;
        case GpuAxis::Serial:
            fits = !parent.is_root() && (!own || parent.axis == GpuAxis::Thread);
            break;
        case GpuAxis::Simd:
            fits = own && (parent.axis == GpuAxis::Serial || parent.axis == GpuAxis::None);
            break;
        case GpuAxis::Parallelized:
            break;
        }
        if (!fits) {
            fail(name(nest) + " cannot be in " + name(parent));
        }
        if (nest.parallel != (nest.axis == GpuAxis::Block)) {
            fail(name(nest) + " is wrongly marked as parallel or not");
        }
        if (nest.innermost != (nest.axis == GpuAxis::Simd)) {
            fail("Leaves and simd levels are the same, unlike at " + name(nest));
        }
    }

    void check_sizes(const LoopNest &nest) {
        const StageNode &stage = graph_.stage(nest.stage_id);
        for (size_t i = 0; i < nest.size.size(); i++) {
            const int64_t size = nest.size[i];
            if (size < 1 || (nest.innermost && size != 1)) {
                fail("Size " + std::to_string(size) + " of " + stage.loops[i].var + " at " +
                     name(nest));
            }
            const bool concurrent = nest.axis == GpuAxis::Block || nest.axis == GpuAxis::Thread;
            if (concurrent && size > 1 && !stage.loops[i].pure) {
                fail("Loop " + stage.loops[i].var + " must run in order, but is spread over " +
                     name(nest));
            }
        }
    }

    void check_coverage(const LoopNest &nest, const LoopNest &site) {
        const StageNode &stage = graph_.stage(nest.stage_id);
        Extents total(nest.size.size(), 1);
        for (const LoopNest *level = &nest; level != nullptr;) {
            if (level->size.size() != total.size()) {
                return;
            }
            for (size_t i = 0; i < total.size(); i++) {
                total[i] *= level->size[i];
            }
            const bool own =
                !level->children.empty() && level->children[0]->stage_id == nest.stage_id;
            level = own ? level->children[0].get() : nullptr;
        }
        const Span *const loops = site.regions->of(nest.func).loops(nest.stage_index);
        for (size_t i = 0; i < total.size(); i++) {
            const int64_t extent = std::max<int64_t>(loops[i].extent(), 1);
            const bool exact = stage.loops[i].pure_dim < 0;
            if (total[i] < extent || (exact && total[i] != extent)) {
                fail("The levels of " + stage.name + " run loop " + stage.loops[i].var + " " +
                     std::to_string(total[i]) + " times instead of " + std::to_string(extent));
            }
        }
    }

    void check_threads(const LoopNest &block) {
        int64_t threads = 1;
        int dims = 0;
        for (const int64_t e : block.union_thread_extents()) {
            threads *= e;
            if (e == 1) {
                continue;
            }
            if (dims < 3 && e > device_.max_thread_extent[dims]) {
                fail("Thread extent " + std::to_string(e) + " in " + name(block));
            }
            dims++;
        }
        if (threads > device_.max_threads_per_block || dims > device_.max_thread_dims) {
            fail(std::to_string(threads) + " threads in " + std::to_string(dims) +
                 " dimensions in " + name(block));
        }
    }

    void check_order(const LoopNest &nest) {
        size_t next = 0;
        if (!nest.is_root() && nest.innermost != nest.children.empty()) {
            return fail(name(nest) + " has no leaf of its own, or is one and has children");
        }
        if (!nest.is_root() && !nest.innermost) {
            if (nest.children[0]->stage_id != nest.stage_id) {
                return fail("The own next level does not come first in " + name(nest));
            }
            next = 1;
        }
        std::vector<int> earlier;
        while (next < nest.children.size()) {
            const int f = nest.children[next]->func;
            if (f < 0 || f >= graph_.num_funcs() || f == nest.func) {
                return fail("A child of " + name(nest) + " is of no other Func");
            }
            const FuncNode &node = graph_.func(f);
            for (auto s = node.stages.rbegin(); s != node.stages.rend(); ++s, next++) {
                if (next == nest.children.size() || nest.children[next]->stage_id != s->id) {
                    return fail("The stages of " + node.name +
                                " do not stand together, last one first, in " + name(nest));
                }
                for (const int e : earlier) {
                    if (s->upstream.contains(e)) {
                        return fail("Func " + graph_.func(e).name + " stands before its consumer " +
                                    node.name + " in " + name(nest));
                    }
                }
            }
            earlier.push_back(f);
            sites_[static_cast<size_t>(f)].push_back(&nest);
        }
    }

    /// Calls of `f` in a leaf, through Funcs inlined there too.
    int64_t calls_in(const LoopNest &leaf, int f) const {
        int64_t calls = 0;
        for (const int id : graph_.func(f).outgoing_edges) {
            const Edge &edge = graph_.edge(id);
            calls += edge.calls * leaf.num_inlined_calls(edge.consumer_func);
            calls += edge.consumer_stage == leaf.stage_id ? edge.calls : 0;
        }
        return calls;
    }

    void check_inlined(const LoopNest &leaf) {
        for (const InlinedCall &c : leaf.inlined) {
            if (c.func < 0 || c.func >= graph_.num_funcs()) {
                return fail("An unknown Func is inlined in " + name(leaf));
            }
            const FuncNode &f = graph_.func(c.func);
            const int64_t calls = calls_in(leaf, c.func);
            inlined_at_[static_cast<size_t>(c.func)].push_back(&leaf);
            if (f.num_stages() != 1 || f.is_output || f.is_input) {
                fail("Func " + f.name + " must not be inlined, but is in " + name(leaf));
            }
            if (c.calls != calls) {
                fail("Func " + f.name + " is called " + std::to_string(calls) + " times, not " +
                     std::to_string(c.calls) + ", in " + name(leaf));
            }
        }
    }

    void check_placement(const FuncNode &f) {
        const std::vector<const LoopNest *> &sites = sites_[static_cast<size_t>(f.id)];
        const std::vector<const LoopNest *> &inlined = inlined_at_[static_cast<size_t>(f.id)];
        if (sites.size() + (inlined.empty() ? 0 : 1) > 1) {
            return fail("Func " + f.name + " is placed or inlined in several ways");
        }
        for (const LoopNest *leaf : inlined.empty() ? inlined : leaves_) {
            if (calls_in(*leaf, f.id) > 0 && leaf->num_inlined_calls(f.id) == 0) {
                fail("Func " + f.name + " is inlined, but not in " + name(*leaf));
            }
        }
        if (sites.empty()) {
            return;
        }
        const LoopNest &site = *sites[0];
        if (f.is_input || (f.is_output && !site.is_root())) {
            return fail("Func " + f.name + " must not be placed in " + name(site));
        }
        for (const int id : f.outgoing_edges) {
            check_consumer(f, graph_.edge(id), site);
        }
    }

    /// Whoever reads the Func does so in a leaf.
    void check_consumer(const FuncNode &f, const Edge &edge, const LoopNest &site) {
        const StageNode &consumer = graph_.stage(edge.consumer_stage);
        std::vector<const LoopNest *> readers =
            inlined_at_[static_cast<size_t>(edge.consumer_func)];
        if (leaf_of_[static_cast<size_t>(consumer.id)] != nullptr) {
            readers.push_back(leaf_of_[static_cast<size_t>(consumer.id)]);
        }
        if (readers.empty()) {
            fail("Func " + f.name + " is placed, but its consumer " + consumer.name + " is not");
        }
        for (const LoopNest *reader : readers) {
            if (!inside(&site, reader)) {
                fail("Func " + f.name + " is computed in " + name(site) +
                     ", which does not enclose its consumer " + consumer.name);
            }
        }
    }

    const LoopNest &root_;
    const PipelineGraph &graph_;
    const GpuDevice &device_;
    std::string error_;
    int counter_ = 0;
    std::unordered_map<const LoopNest *, Range> ranges_;
    std::vector<const LoopNest *> leaves_;
    // Per Func: nests in which it is placed, leaves into which it is inlined.
    std::vector<std::vector<const LoopNest *>> sites_, inlined_at_;
    // Per stage.
    std::vector<const LoopNest *> leaf_of_;
};

}  // namespace

std::optional<std::string>
verify_schedule(const LoopNest &root, const PipelineGraph &graph, const GpuDevice &device) {
    return Verifier(root, graph, device).verify();
}

}  // namespace anderson2021
