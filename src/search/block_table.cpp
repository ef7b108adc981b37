#include "search/block_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace anderson2021 {

namespace {

void note_excess(BlockRecord &record, int stage_id, double work, const ProgramFacts &facts) {
    if (const auto rejection = reject_recompute(work, facts.minimum_points(stage_id))) {
        record.excesses.push_back({stage_id, *rejection});
    }
}

bool is_finite(const StageRow &row) {
    return std::all_of(std::begin(row.features), std::end(row.features), [](float value) {
        return std::isfinite(value);
    });
}

}  // namespace

size_t approximate_bytes_of_block(const LoopNest &block) {
    // With its vectors and its share of regions.
    constexpr size_t kPerNest = 900;
    return block.num_nests() * kPerNest;
}

size_t approximate_bytes(const BlockRecord &record) {
    return sizeof(BlockRecord) + record.layout.size() * sizeof(int32_t) +
           (record.rows.size() + record.inlined_rows.size()) * sizeof(StageRow) +
           record.inlined.size() * sizeof(InlinedSums) + approximate_bytes_of_block(*record.block);
}

BlockTable::BlockTable(const PipelineGraph &graph, const Featurizer &featurizer, size_t max_bytes)
    : graph_(graph), featurizer_(featurizer), max_bytes_per_shard_(max_bytes / kShards),
      position_(static_cast<size_t>(graph.num_stages()), -1) {
    const std::vector<int> &order = graph.record_order();
    for (size_t i = 0; i < order.size(); i++) {
        position_[static_cast<size_t>(order[i])] = static_cast<int>(i);
    }
}

BlockRecordPtr BlockTable::find(const Shard &shard, const BlockKey &key) {
    const auto range = shard.records.equal_range(key.hash);
    for (auto it = range.first; it != range.second; ++it) {
        const BlockRecord &known = *it->second;
        if (known.layout == key.layout && known.block->same_structure(*key.block)) {
            return it->second;
        }
    }
    return nullptr;
}

BlockRecordPtr
BlockTable::get(const LoopNestPtr &root, size_t child, const RootPlacement &placement) {
    Featurizer::Surroundings around = featurizer_.surroundings(*root->children[child], placement);
    const BlockKey key = make_block_key(root->children[child], around.layout);
    Shard &s = shard(key.hash);
    {
        const std::lock_guard<SpinLock> lock(s.mutex);
        if (BlockRecordPtr known = find(s, key)) {
            hits_.fetch_add(1, std::memory_order_relaxed);
            return known;
        }
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    BlockRecordPtr fresh = make(root, child, std::move(around));
    const std::lock_guard<SpinLock> lock(s.mutex);
    if (BlockRecordPtr known = find(s, key)) {
        return known;  // another thread was faster
    }
    const size_t bytes = approximate_bytes(*fresh);
    if (s.bytes + bytes > max_bytes_per_shard_) {
        s.records.clear();
        s.bytes = 0;
    }
    s.bytes += bytes;
    s.records.emplace(key.hash, fresh);
    return fresh;
}

BlockRecordPtr
BlockTable::make(const LoopNestPtr &root, size_t child, const RootPlacement &placement) const {
    return make(root, child, featurizer_.surroundings(*root->children[child], placement));
}

BlockRecordPtr BlockTable::make(const LoopNestPtr &root,
                                size_t child,
                                Featurizer::Surroundings surroundings) const {
    auto record = make_pooled<BlockRecord>();
    record->block = root->children[child];
    const Featurizer::BlockResult result =
        featurizer_.featurize_child(root, child, surroundings.open);
    record->layout = std::move(surroundings.layout);
    record->open = std::move(surroundings.open);
    record->unpromotable_func = result.unpromotable_func;
    if (record->unpromotable_func) {
        return record;
    }
    const ProgramFacts &facts = featurizer_.facts();
    record->working_set = result.features.working_set;
    record->rows.reserve(result.features.rows.size());
    for (const BlockRow &row : result.features.rows) {
        ScheduleFeatures features = row.features;
        facts.write(row.stage_id, row.vector_dim, features);
        record->rows.push_back(narrow(row.stage_id, features));
        record->finite = record->finite && is_finite(record->rows.back());
        note_excess(*record, row.stage_id, features.points_computed_total, facts);
    }
    for (size_t i = 0; i < result.features.rows.size(); i++) {
        const BlockRow &row = result.features.rows[i];
        const bool stored_at_root = i == 0 || featurizer_.store_sets() == StoreSets::EveryAncestor;
        if (stored_at_root && graph_.stage(row.stage_id).index == 0) {
            record->bytes_at_root += row.features.bytes_at_production;
        }
    }
    record->inlined = result.features.inlined;
    record->inlined_rows.reserve(record->inlined.size());
    for (const InlinedSums &sums : record->inlined) {
        record->inlined_rows.push_back(inlined_row(sums));
        record->finite = record->finite && is_finite(record->inlined_rows.back());
        note_excess(*record, graph_.func(sums.func).stages[0].id, sums.calls, facts);
    }
    return record;
}

StageRow BlockTable::inlined_row(const InlinedSums &sums) const {
    const int stage = graph_.func(sums.func).stages[0].id;
    ScheduleFeatures features;
    write_inlined(sums, features);
    // Compat: the vector dimension of the consumer, not one of its own.
    featurizer_.facts().write(stage, sums.vector_dim, features);
    return narrow(stage, features);
}

StageRow BlockTable::narrow(int stage_id, const ScheduleFeatures &features) const {
    return narrowed_row(position_[static_cast<size_t>(stage_id)], features);
}

void BlockTable::clear(ThreadPool &pool) {
    pool.parallel_for(kShards, [this](int64_t i) {
        Shard &s = shards_[static_cast<size_t>(i)];
        const std::lock_guard<SpinLock> lock(s.mutex);
        s.records.clear();
        s.bytes = 0;
    });
}

}  // namespace anderson2021
