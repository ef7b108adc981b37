#include "schedule/func_region.h"

namespace anderson2021 {

namespace {

/// Extent from the ends of `bounds` at the given loops; see the two flags of Span.
///
/// `constant` follows the rule that the cost model was trained with: every end is a number or
/// affine in a loop of constant extent. `exact` additionally needs both ends to move together,
/// because otherwise the extent changes from iteration to iteration.
Span footprint(const EdgeBound &bounds, const Span *loops) {
    const BoundExpr &lo = bounds.min;
    const BoundExpr &hi = bounds.max;
    Span s{lo.evaluate(loops), hi.evaluate(loops), true, lo.exact && hi.exact};
    for (const BoundExpr *e : {&lo, &hi}) {
        if (e->kind == BoundExpr::Kind::Program) {
            s.constant = s.exact = false;
        } else if (e->kind == BoundExpr::Kind::Affine && e->coeff != 0) {
            s.constant = s.constant && loops[e->span].constant;
            s.exact = s.exact && loops[e->span].exact;
        }
    }
    const int64_t lo_coeff = lo.kind == BoundExpr::Kind::Affine ? lo.coeff : 0;
    const int64_t hi_coeff = hi.kind == BoundExpr::Kind::Affine ? hi.coeff : 0;
    s.exact = s.exact && lo_coeff == hi_coeff && (lo_coeff == 0 || lo.span == hi.span);
    return s;
}

Span computed_span(const ComputedDim &dim, int d, const Span *required) {
    switch (dim.kind) {
    case ComputedDim::Kind::EqualsRequired:
        return required[d];
    case ComputedDim::Kind::UnionWithConstants:
        return {std::min(required[d].min, dim.union_min),
                std::max(required[d].max, dim.union_max),
                false,
                false};
    case ComputedDim::Kind::Expression:
        return {dim.min_expr.evaluate(required), dim.max_expr.evaluate(required), false, false};
    }
    return {};
}

Span loop_span(const LoopDim &loop, const Span *computed) {
    switch (loop.source) {
    case LoopDim::Source::ComputedDim:
        return computed[loop.computed_dim];
    case LoopDim::Source::Constant:
        return loop.constant_span;
    case LoopDim::Source::Expression:
        return {loop.min_expr.evaluate(computed), loop.max_expr.evaluate(computed), false, false};
    }
    return {};
}

}  // namespace

int64_t FuncRegion::points_computed() const {
    int64_t points = 1;
    for (int d = 0; d < func_->dims(); d++) {
        points *= computed(d).extent();
    }
    return points;
}

int64_t FuncRegion::points_required() const {
    int64_t points = 1;
    for (int d = 0; d < func_->dims(); d++) {
        points *= required(d).extent();
    }
    return points;
}

void FuncRegion::derive_from_required() {
    const Span *const required_spans = spans_.data();
    Span *const computed_spans = spans_.data() + func_->computed_offset;
    for (int d = 0; d < func_->dims(); d++) {
        computed_spans[d] =
            computed_span(func_->computed[static_cast<size_t>(d)], d, required_spans);
    }
    for (const StageNode &stage : func_->stages) {
        for (size_t i = 0; i < stage.loops.size(); i++) {
            loop(stage.index, static_cast<int>(i)) = loop_span(stage.loops[i], computed_spans);
        }
    }
}

void expand_footprint(const Edge &edge, const Span *consumer_loops, Span *required) {
    for (size_t d = 0; d < edge.bounds.size(); d++) {
        required[d].union_with(footprint(edge.bounds[d], consumer_loops));
    }
}

}  // namespace anderson2021
