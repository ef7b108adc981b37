#include "frontend/func_domain.h"

#include <algorithm>
#include <optional>

#include "frontend/bound_compiler.h"
#include "frontend/estimates.h"
#include "frontend/load_bounds.h"
#include "support/error.h"

namespace anderson2021 {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;

namespace {

// The constant k if `e` is op(<variable named v>, k), with op one of Min and Max.
template<typename Op>
std::optional<int64_t> constant_operand(const Expr &e, const std::string &v) {
    const Op *op = e.as<Op>();
    const Variable *first = op ? op->a.template as<Variable>() : nullptr;
    return first != nullptr && first->name == v ? as_const_int(op->b) : std::nullopt;
}

bool is_variable(const Expr &e, const std::string &name) {
    const Variable *v = e.as<Variable>();
    return v != nullptr && v->name == name;
}

int index_of(const std::vector<std::string> &list, const std::string &item) {
    const auto it = std::find(list.begin(), list.end(), item);
    return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

Span reduction_span(const ReductionVariable &r, const std::string &stage_name) {
    const Expr last = r.min + r.extent - 1;
    const std::optional<int64_t> min = as_const_int(estimated_value(r.min));
    const std::optional<int64_t> max = as_const_int(estimated_value(last));
    if (!min || !max) {
        throw UserError("The range of reduction variable \"" + r.var + "\" in \"" + stage_name +
                        "\" is not constant even with all estimates. Let the bounds of the "
                        "reduction domain depend on constants and parameters only.");
    }
    if (*max < *min) {
        throw UserError("Reduction variable \"" + r.var + "\" in \"" + stage_name +
                        "\" has an estimated extent of " + std::to_string(*max - *min + 1) +
                        ". Give its parameters estimates that leave at least one iteration, or "
                        "drop the update.");
    }
    Span span;
    span.min = *min;
    span.max = *max;
    span.constant = true;
    span.exact = !depends_on_estimate(r.min) && !depends_on_estimate(r.extent);
    return span;
}

}  // namespace

FuncDomain::FuncDomain(const Function &f, const FuncValueBounds &value_bounds)
    : func_(f), value_bounds_(value_bounds) {
    for (const std::string &arg : f.args()) {
        args_.push(arg, symbolic_span(arg));
    }
}

Interval FuncDomain::symbolic_span(const std::string &var) const {
    const std::string name = func_.name() + "." + var;
    return Interval(Variable::make(Halide::Int(32), min_variable(name)),
                    Variable::make(Halide::Int(32), max_variable(name)));
}

std::vector<Span> FuncDomain::reduction_spans(const Definition &def,
                                              const std::string &stage_name) const {
    std::vector<Span> spans;
    for (const ReductionVariable &r : def.schedule().rvars()) {
        spans.push_back(reduction_span(r, stage_name));
    }
    return spans;
}

void FuncDomain::extend_region(const Definition &def,
                               const std::vector<Span> &reduction_domain,
                               const std::string &stage_name) {
    Scope<Interval> scope;
    scope.set_containing_scope(&args_);
    for (size_t i = 0; i < reduction_domain.size(); i++) {
        const Span &span = reduction_domain[i];
        scope.push(def.schedule().rvars()[i].var,
                   Interval(static_cast<int32_t>(span.min), static_cast<int32_t>(span.max)));
    }
    for (size_t j = 0; j < def.args().size(); j++) {
        const Interval written =
            without_loads(bounds_of_expr_in_scope(def.args()[j], scope, value_bounds_));
        if (!written.is_bounded()) {
            throw UserError("\"" + stage_name + "\" writes to unbounded coordinates in dimension " +
                            std::to_string(j) + " (\"" + func_.args()[j] +
                            "\"). Limit the coordinate with clamp().");
        }
        if (j == region_.size()) {
            region_.push_back(written);
        } else {
            region_[j].include(written);
        }
    }
}

std::vector<LoopDim> FuncDomain::add_stage(const Definition &def, const std::string &stage_name) {
    const std::vector<Span> reduction_domain = reduction_spans(def, stage_name);
    extend_region(def, reduction_domain, stage_name);
    std::vector<std::string> rvars;
    for (const ReductionVariable &r : def.schedule().rvars()) {
        rvars.push_back(r.var);
    }
    std::vector<LoopDim> loops;
    const std::vector<Dim> &dims = def.schedule().dims();
    for (size_t i = 0; i < dims.size(); i++) {
        LoopDim loop;
        loop.var = dims[i].var;
        loop.pure = dims[i].is_pure();
        loop.rvar = dims[i].is_rvar();
        loop.pure_dim = index_of(func_.args(), loop.var);
        loop.dims_index = static_cast<int>(i);
        const int rvar = index_of(rvars, loop.var);
        if (rvar >= 0) {
            loop.source = LoopDim::Source::Constant;
            loop.constant_span = reduction_domain[static_cast<size_t>(rvar)];
        } else if (loop.pure_dim >= 0) {
            // A free argument runs over all that is computed, also where other definitions of the
            // Func write more than is required.
            loop.source = LoopDim::Source::ComputedDim;
            loop.computed_dim = loop.pure_dim;
        } else {
            continue;  // the placeholder outside of all loops
        }
        loops.push_back(loop);
    }
    return loops;
}

std::vector<ComputedDim> FuncDomain::computed() const {
    std::vector<std::string> names;
    for (const std::string &arg : func_.args()) {
        names.push_back(func_.name() + "." + arg);
    }
    const BoundCompiler compiler(names);
    std::vector<ComputedDim> result;
    for (size_t j = 0; j < region_.size(); j++) {
        const Expr min = estimated_value(region_[j].min);
        const Expr max = estimated_value(region_[j].max);
        const std::string min_name = min_variable(names[j]);
        const std::string max_name = max_variable(names[j]);
        const std::optional<int64_t> union_min = constant_operand<Min>(min, min_name);
        const std::optional<int64_t> union_max = constant_operand<Max>(max, max_name);
        ComputedDim dim;
        if (is_variable(min, min_name) && is_variable(max, max_name)) {
            dim.kind = ComputedDim::Kind::EqualsRequired;
        } else if (union_min && union_max) {
            dim.kind = ComputedDim::Kind::UnionWithConstants;
            dim.union_min = *union_min;
            dim.union_max = *union_max;
        } else {
            dim.kind = ComputedDim::Kind::Expression;
            dim.min_expr = compiler.compile(min);
            dim.max_expr = compiler.compile(max);
            dim.min_expr.exact = !depends_on_estimate(region_[j].min);
            dim.max_expr.exact = !depends_on_estimate(region_[j].max);
        }
        result.push_back(std::move(dim));
    }
    return result;
}

std::vector<std::string> FuncDomain::span_names(const std::vector<LoopDim> &loops) const {
    std::vector<std::string> names;
    for (const LoopDim &loop : loops) {
        names.push_back(func_.name() + "." + loop.var);
    }
    return names;
}

void FuncDomain::bind_loops(const Definition &def, Scope<Interval> &scope) const {
    scope.set_containing_scope(&args_);
    for (const ReductionVariable &r : def.schedule().rvars()) {
        scope.push(r.var, symbolic_span(r.var));
    }
}

}  // namespace anderson2021
