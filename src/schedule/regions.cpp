#include "schedule/regions.h"

#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "support/error.h"
#include "support/hash.h"
#include "support/pool.h"
#include "support/spin_lock.h"

namespace anderson2021 {

namespace {

uint64_t hash_region(int stage_id, const FuncRegion &region) {
    uint64_t hash = static_cast<uint64_t>(stage_id);
    for (const Span &s : region.spans()) {
        hash_combine(hash, static_cast<uint64_t>(s.min));
        hash_combine(hash, static_cast<uint64_t>(s.max));
        hash_combine(hash, (s.constant ? 1u : 0u) | (s.exact ? 2u : 0u));
    }
    return hash;
}

}  // namespace

NestRegions::NestRegions(const PipelineGraph &graph)
    : graph_(graph), slots_(static_cast<size_t>(graph.num_funcs())) {}

NestRegions::NestRegions(const PipelineGraph &graph, int stage_id, FuncRegion own)
    : graph_(graph), stage_id_(stage_id), own_(std::move(own)) {
    ANDERSON_DCHECK(own_.func().id == graph.stage(stage_id).func) << "Region of another Func";
}

NestRegions::~NestRegions() {
    for (const std::atomic<const FuncRegion *> &slot : slots_) {
        delete slot.load(std::memory_order_relaxed);
    }
    for (const std::atomic<const Node *> &list : lists_) {
        const Node *node = list.load(std::memory_order_relaxed);
        while (node != nullptr) {
            delete std::exchange(node, node->next);
        }
    }
}

const FuncRegion &NestRegions::of(int func) const {
    if (!is_root()) {
        return func == own_.func().id ? own_ : of_listed(func);
    }
    std::atomic<const FuncRegion *> &slot = slots_[static_cast<size_t>(func)];
    const FuncRegion *known = slot.load(std::memory_order_acquire);
    if (known != nullptr) {
        return *known;
    }
    auto fresh = std::make_unique<const FuncRegion>(compute(func));
    if (slot.compare_exchange_strong(
            known, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
        return *fresh.release();
    }
    // Another thread was faster; its result is equal.
    return *known;
}

const FuncRegion &NestRegions::of_listed(int func) const {
    std::atomic<const Node *> &list = lists_[static_cast<size_t>(func) % kNumLists];
    const Node *head = list.load(std::memory_order_acquire);
    const Node *seen = nullptr;
    std::unique_ptr<Node> fresh;
    for (;;) {
        for (const Node *node = head; node != seen; node = node->next) {
            if (node->region.func().id == func) {
                return node->region;
            }
        }
        if (fresh == nullptr) {
            fresh = std::make_unique<Node>(Node{compute(func), nullptr});
            // Computing it may have added what it depends on.
            seen = head;
            head = list.load(std::memory_order_acquire);
            if (head != seen) {
                continue;
            }
        }
        fresh->next = head;
        seen = head;
        if (list.compare_exchange_strong(
                head, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
            return fresh.release()->region;
        }
    }
}

FuncRegion NestRegions::compute(int func) const {
    const FuncNode &node = graph_.func(func);
    FuncRegion region(node);
    bool needed = false;
    if (is_root() && node.is_output) {
        needed = true;
        for (int d = 0; d < node.dims(); d++) {
            region.required(d) = node.estimate[static_cast<size_t>(d)];
        }
    }
    const BitSet *const upstream = is_root() ? nullptr : &graph_.stage(stage_id_).upstream;
    for (const int id : node.outgoing_edges) {
        const Edge &edge = graph_.edge(id);
        if (upstream != nullptr && edge.consumer_stage != stage_id_ &&
            !upstream->contains(edge.consumer_func)) {
            continue;
        }
        needed = true;
        const int stage_index = graph_.stage(edge.consumer_stage).index;
        const FuncRegion &consumer = of(edge.consumer_func);
        if (node.dims() > 0) {
            expand_footprint(edge, consumer.loops(stage_index), &region.required(0));
        }
    }
    ANDERSON_CHECK(needed) << "Nothing needs Func " << node.name << " at "
                           << (is_root() ? "the root" : graph_.stage(stage_id_).name);
    region.derive_from_required();
    return region;
}

FuncRegion NestRegions::along_chain(const std::vector<int> &chain) const {
    ANDERSON_CHECK(!chain.empty()) << "Empty chain of edges";
    const Edge &first = graph_.edge(chain.front());
    ANDERSON_CHECK(is_root() || first.consumer_stage == stage_id_)
        << "The chain starts at " << graph_.stage(first.consumer_stage).name << ", the nest is of "
        << graph_.stage(stage_id_).name;
    FuncRegion current;
    const FuncRegion *consumer = &of(first.consumer_func);
    for (const int id : chain) {
        const Edge &edge = graph_.edge(id);
        FuncRegion next(graph_.func(edge.producer));
        if (next.func().dims() > 0) {
            const int stage_index = graph_.stage(edge.consumer_stage).index;
            expand_footprint(edge, consumer->loops(stage_index), &next.required(0));
        }
        next.derive_from_required();
        current = std::move(next);
        consumer = &current;
    }
    return current;
}

size_t NestRegions::bytes() const {
    const auto region_bytes = [](const FuncRegion &r) {
        return r.spans().capacity() * sizeof(Span);
    };
    size_t total = sizeof(*this) + region_bytes(own_) + slots_.size() * sizeof(slots_[0]);
    for (const std::atomic<const FuncRegion *> &slot : slots_) {
        const FuncRegion *const r = slot.load(std::memory_order_acquire);
        if (r != nullptr) {
            total += sizeof(*r) + region_bytes(*r);
        }
    }
    for (const std::atomic<const Node *> &list : lists_) {
        for (const Node *node = list.load(std::memory_order_acquire); node != nullptr;
             node = node->next) {
            total += sizeof(*node) + region_bytes(node->region);
        }
    }
    return total;
}

struct RegionStore::Impl {
    struct Shard {
        SpinLock mutex;
        // By hash_region().
        std::unordered_multimap<uint64_t, NestRegionsPtr> entries;
    };
    std::array<Shard, 32> shards;

    Shard &shard(uint64_t hash) { return shards[(hash >> 58) % shards.size()]; }
};

RegionStore::RegionStore(const PipelineGraph &graph)
    : graph_(graph), root_(std::make_shared<NestRegions>(graph)), impl_(std::make_unique<Impl>()) {}

// Schedules do not outlive the store, so unless another search is going on nothing is in use.
RegionStore::~RegionStore() {
    impl_.reset();
    root_.reset();
    pool::release_unused();
}

NestRegionsPtr RegionStore::at(int stage_id, FuncRegion own) {
    const uint64_t hash = hash_region(stage_id, own);
    Impl::Shard &shard = impl_->shard(hash);
    const std::lock_guard<SpinLock> lock(shard.mutex);
    const auto range = shard.entries.equal_range(hash);
    for (auto known = range.first; known != range.second; ++known) {
        const NestRegions &r = *known->second;
        if (r.stage_id() == stage_id && r.own().spans() == own.spans()) {
            return known->second;
        }
    }
    return shard.entries.emplace(hash, make_pooled<NestRegions>(graph_, stage_id, std::move(own)))
        ->second;
}

void RegionStore::trim() {
    for (Impl::Shard &shard : impl_->shards) {
        const std::lock_guard<SpinLock> lock(shard.mutex);
        for (auto entry = shard.entries.begin(); entry != shard.entries.end();) {
            entry = entry->second.use_count() == 1 ? shard.entries.erase(entry) : std::next(entry);
        }
    }
}

}  // namespace anderson2021
