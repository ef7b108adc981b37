// Regions of one Func at one place of the schedule: what its consumers require, what is computed
// in order to provide that, and the span of every loop of every stage.
#pragma once

#include <memory>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "support/pool.h"
#include "support/span.h"

namespace anderson2021 {

/// Flat array of spans: dims() required, dims() computed, then the loops of stage 0, 1, ...
/// Plain value; shared as FuncRegionPtr once it is published.
class FuncRegion {
public:
    FuncRegion() = default;
    explicit FuncRegion(const FuncNode &func)
        : func_(&func), spans_(static_cast<size_t>(func.num_spans), Span::empty()) {}

    const FuncNode &func() const { return *func_; }

    const Span &required(int dim) const { return spans_[static_cast<size_t>(dim)]; }
    const Span &computed(int dim) const {
        return spans_[static_cast<size_t>(func_->computed_offset + dim)];
    }
    const Span &loop(int stage_index, int loop) const { return loops(stage_index)[loop]; }
    /// The loops of a stage, innermost first.
    const Span *loops(int stage_index) const {
        return spans_.data() + func_->loops_offset[static_cast<size_t>(stage_index)];
    }
    using Spans = std::vector<Span, PoolAllocator<Span>>;
    const Spans &spans() const { return spans_; }

    Span &required(int dim) { return spans_[static_cast<size_t>(dim)]; }
    Span &loop(int stage_index, int loop) {
        return spans_[static_cast<size_t>(func_->loops_offset[static_cast<size_t>(stage_index)] +
                                          loop)];
    }

    /// Number of points of the region computed / required (1 for 0-dimensional Funcs).
    int64_t points_computed() const;
    int64_t points_required() const;
    /// bytes_per_point * points_computed().
    int64_t bytes_computed() const { return func_->bytes_per_point * points_computed(); }

    /// Fills computed and loops of all stages from required.
    void derive_from_required();

private:
    const FuncNode *func_ = nullptr;
    Spans spans_;
};

using FuncRegionPtr = std::shared_ptr<const FuncRegion>;

/// Extends `required` (an array over the producer's dimensions) by the footprint of `edge` for the
/// given spans of the consumer stage's loops.
void expand_footprint(const Edge &edge, const Span *consumer_loops, Span *required);

}  // namespace anderson2021
