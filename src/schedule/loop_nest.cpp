#include "schedule/loop_nest.h"

#include <algorithm>
#include <atomic>

#include "support/error.h"
#include "support/hash.h"
#include "support/pool.h"

namespace anderson2021 {

namespace {

std::atomic<uint64_t> next_id{1};

void insert_sorted(SmallVector<int, 2> &set, int value) {
    const int *const at = std::lower_bound(set.begin(), set.end(), value);
    if (at != set.end() && *at == value) {
        return;
    }
    const auto place = at - set.begin();
    set.push_back(value);
    std::rotate(set.begin() + place, set.end() - 1, set.end());
}

// The order in which Funcs were inlined is no part of the value.
std::vector<InlinedCall> sorted_by_func(std::vector<InlinedCall> calls) {
    std::sort(calls.begin(), calls.end(), [](const InlinedCall &a, const InlinedCall &b) {
        return a.func < b.func;
    });
    return calls;
}

uint64_t hash_nest(const LoopNestData &d) {
    uint64_t hash = 0;
    hash_combine(hash, static_cast<uint64_t>(d.stage_id));
    hash_combine(hash, static_cast<uint64_t>(d.axis));
    hash_combine(hash, (d.innermost ? 1u : 0u) | (d.parallel ? 2u : 0u));
    hash_combine(hash, static_cast<uint64_t>(d.vector_dim));
    hash_combine(hash, static_cast<uint64_t>(d.lane_loop));
    for (const int64_t s : d.size) {
        hash_combine(hash, static_cast<uint64_t>(s));
    }
    if (!d.inlined.empty()) {
        for (const InlinedCall &c : sorted_by_func(d.inlined)) {
            hash_combine(hash, static_cast<uint64_t>(c.func));
            hash_combine(hash, static_cast<uint64_t>(c.calls));
        }
    }
    hash_combine(hash, d.children.size());
    for (const LoopNestPtr &c : d.children) {
        hash_combine(hash, c->structural_hash());
    }
    return hash;
}

void add_producers(const PipelineGraph &graph, const StageNode &stage, BitSet &called) {
    for (const int e : stage.incoming_edges) {
        called.insert(graph.edge(e).producer);
    }
}

void extend_elementwise(Extents &extents, const Extents &other) {
    if (extents.size() < other.size()) {
        extents.resize(other.size(), 1);
    }
    for (size_t i = 0; i < other.size(); i++) {
        extents[i] = std::max(extents[i], other[i]);
    }
}

}  // namespace

const char *gpu_axis_name(GpuAxis axis) {
    switch (axis) {
    case GpuAxis::None:
        return "none";
    case GpuAxis::Parallelized:
        return "parallelized";
    case GpuAxis::Block:
        return "block";
    case GpuAxis::Thread:
        return "thread";
    case GpuAxis::Serial:
        return "serial";
    case GpuAxis::Simd:
        return "simd";
    }
    return "";
}

LoopNestPtr LoopNest::publish(const PipelineGraph &graph, LoopNestData data) {
    ANDERSON_DCHECK(data.regions != nullptr) << "A nest needs regions";
    const auto nest = make_pooled<LoopNest>(Key(), std::move(data));
    nest->id_ = next_id.fetch_add(1, std::memory_order_relaxed);
    nest->hash_ = hash_nest(*nest);
    for (const int64_t s : nest->size) {
        nest->iterations_ *= s;
    }
    nest->computed_ = BitSet(graph.num_funcs());
    nest->called_ = BitSet(graph.num_funcs());
    if (!nest->is_root()) {
        nest->computed_.insert(nest->func);
        add_producers(graph, graph.stage(nest->stage_id), nest->called_);
    }
    for (const InlinedCall &c : nest->inlined) {
        nest->computed_.insert(c.func);
        for (const StageNode &s : graph.func(c.func).stages) {
            add_producers(graph, s, nest->called_);
        }
    }
    nest->has_thread_ = nest->axis == GpuAxis::Thread;
    for (const LoopNestPtr &c : nest->children) {
        nest->computed_.insert(c->computed_);
        nest->called_.insert(c->called_);
        nest->num_nests_ += c->num_nests_;
        nest->has_thread_ = nest->has_thread_ || c->has_thread_;
        if (c->func != nest->func) {
            insert_sorted(nest->store_set_, c->func);
            nest->stored_below_.insert(c->func);
        }
        nest->stored_below_.insert(c->stored_below_);
    }
    return nest;
}

std::vector<int> LoopNest::store_set_with_descendants() const {
    std::vector<int> funcs;
    stored_below_.for_each([&](int f) { funcs.push_back(f); });
    return funcs;
}

bool LoopNest::same_structure(const LoopNest &other) const {
    if (this == &other) {
        return true;
    }
    if (hash_ != other.hash_ || stage_id != other.stage_id || axis != other.axis ||
        innermost != other.innermost || parallel != other.parallel ||
        vector_dim != other.vector_dim || lane_loop != other.lane_loop || size != other.size ||
        inlined.size() != other.inlined.size() || children.size() != other.children.size()) {
        return false;
    }
    for (const InlinedCall &c : inlined) {
        if (other.num_inlined_calls(c.func) != c.calls) {
            return false;
        }
    }
    for (size_t i = 0; i < children.size(); i++) {
        if (!children[i]->same_structure(*other.children[i])) {
            return false;
        }
    }
    return true;
}

int64_t LoopNest::num_inlined_calls(int f) const {
    for (const InlinedCall &c : inlined) {
        if (c.func == f) {
            return c.calls;
        }
    }
    return 0;
}

Extents LoopNest::lowered_sizes() const {
    Extents result;
    const auto add = [&](size_t i) {
        if (size[i] > 1) {
            result.push_back(size[i]);
        }
    };
    if (lane_loop >= 0) {
        add(static_cast<size_t>(lane_loop));
    }
    for (size_t i = 0; i < size.size(); i++) {
        if (static_cast<int>(i) != lane_loop) {
            add(i);
        }
    }
    return result;
}

Extents LoopNest::union_thread_extents() const {
    Extents result{1, 1, 1};
    for (const LoopNestPtr &c : children) {
        if (c->axis == GpuAxis::Thread) {
            extend_elementwise(result, c->lowered_sizes());
        } else if (!c->children.empty()) {
            extend_elementwise(result, c->union_thread_extents());
        }
    }
    return result;
}

}  // namespace anderson2021
