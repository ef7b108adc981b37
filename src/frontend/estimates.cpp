#include "frontend/estimates.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "frontend/simplified.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;
using Halide::Parameter;

// What a variable that belongs to a buffer says about it: `<buffer>.<field>.<dimension>`.
struct BufferField {
    std::string field;
    int dim = 0;
};

BufferField parse_buffer_field(const std::string &variable) {
    const size_t last = variable.rfind('.');
    const size_t before = last == std::string::npos ? last : variable.rfind('.', last - 1);
    if (before == std::string::npos) {
        return {variable, 0};
    }
    return {variable.substr(before + 1, last - before - 1), std::atoi(variable.c_str() + last + 1)};
}

// The value that a run-time check enforces; undefined if there is none.
Expr buffer_constraint(const Parameter &p, const BufferField &at) {
    if (at.dim < 0 || at.dim >= p.dimensions()) {
        return Expr();
    }
    Expr value;
    if (at.field == "min") {
        value = p.min_constraint(at.dim);
    } else if (at.field == "extent") {
        value = p.extent_constraint(at.dim);
    } else if (at.field == "stride") {
        value = p.stride_constraint(at.dim);
    }
    return value.defined() && as_const_int(simplify(value)) ? value : Expr();
}

Expr buffer_estimate(const Parameter &p, const BufferField &at) {
    if (at.dim < 0 || at.dim >= p.dimensions()) {
        return Expr();
    }
    if (at.field == "min") {
        return p.min_constraint_estimate(at.dim);
    }
    if (at.field == "extent") {
        return p.extent_constraint_estimate(at.dim);
    }
    return Expr();
}

Expr metadata_of_image(const Halide::Buffer<> &image, const BufferField &at) {
    if (at.dim < 0 || at.dim >= image.dimensions()) {
        return Expr();
    }
    if (at.field == "min") {
        return image.dim(at.dim).min();
    }
    if (at.field == "extent") {
        return image.dim(at.dim).extent();
    }
    if (at.field == "stride") {
        return image.dim(at.dim).stride();
    }
    return Expr();
}

[[noreturn]] void throw_missing_estimate(const Variable *v) {
    const Parameter &p = v->param;
    std::ostringstream text;
    if (!p.is_buffer()) {
        text << "Parameter \"" << p.name() << "\" has no estimate, but the bounds of the pipeline "
             << "depend on it. Call " << p.name() << ".set_estimate(<typical value>).";
        throw UserError(text.str());
    }
    const BufferField at = parse_buffer_field(v->name);
    text << "Buffer \"" << p.name() << "\" has no estimate of its " << at.field << " in dimension "
         << at.dim << " (" << v->name << "), but the bounds of the pipeline depend on it. ";
    if (at.field == "stride") {
        text << "Do not let coordinates depend on strides, or fix the stride with " << p.name()
             << ".dim(" << at.dim << ").set_stride(<value>).";
    } else {
        text << "Call " << p.name() << ".set_estimates({{min, extent}, ...}) or " << p.name()
             << ".dim(" << at.dim << ").set_estimate(min, extent).";
    }
    throw UserError(text.str());
}

// The number that stands for a parameter or buffer variable; undefined for other variables.
Expr value_of(const Variable *v) {
    Expr value;
    if (v->param.defined()) {
        if (v->param.is_buffer()) {
            const BufferField at = parse_buffer_field(v->name);
            value = buffer_estimate(v->param, at);
            if (!value.defined()) {
                value = buffer_constraint(v->param, at);
            }
        } else {
            value = v->param.estimate();
        }
    } else if (v->image.defined()) {
        value = metadata_of_image(v->image, parse_buffer_field(v->name));
    }
    if (value.defined() && value.type() != v->type) {
        value = Halide::cast(v->type, value);
    }
    return value;
}

class EstimateSubstitution : public IRGraphMutator {
    using IRGraphMutator::visit;

    Expr visit(const Variable *v) override {
        const Expr value = value_of(v);
        return value.defined() ? value : Expr(v);
    }
};

class MissingEstimateCheck : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void visit(const Variable *v) override {
        if (v->param.defined()) {
            throw_missing_estimate(v);
        }
    }
};

class EstimateFinder : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void visit(const Variable *v) override {
        if (!v->param.defined() || found) {
            return;
        }
        if (v->param.is_buffer()) {
            const BufferField at = parse_buffer_field(v->name);
            const Expr enforced = buffer_constraint(v->param, at);
            const Expr assumed = buffer_estimate(v->param, at);
            found = !enforced.defined() ||
                    (assumed.defined() && !is_const_zero(simplify(enforced - assumed)));
        } else {
            found = true;
        }
    }

public:
    bool found = false;
};

std::optional<Span> constant_span(const Expr &min_expr, const Expr &extent_expr) {
    if (!min_expr.defined() || !extent_expr.defined()) {
        return std::nullopt;
    }
    const std::optional<int64_t> min = as_const_int(simplify(min_expr));
    const std::optional<int64_t> extent = as_const_int(simplify(extent_expr));
    if (!min || !extent) {
        return std::nullopt;
    }
    Span span;
    span.min = *min;
    span.max = *min + *extent - 1;
    return span;
}

// Estimates that were given to the output's buffer instead of the Func.
std::map<std::string, Span> buffer_estimates(const Function &output) {
    std::map<std::string, Span> known;
    if (output.output_buffers().empty()) {
        return known;
    }
    const Parameter &buffer = output.output_buffers()[0];
    for (int i = 0; i < output.dimensions(); i++) {
        const std::optional<Span> span =
            constant_span(buffer.min_constraint_estimate(i), buffer.extent_constraint_estimate(i));
        if (span) {
            known[output.args()[static_cast<size_t>(i)]] = *span;
        }
    }
    return known;
}

// A bound replaces the estimate if it says where the region lies. One of the extent alone tells
// that an estimate of the same extent is true.
void apply_bound(const Bound &b, std::map<std::string, Span> &known) {
    std::optional<Span> span = constant_span(b.min, b.extent);
    const auto estimate = known.find(b.var);
    if (span) {
        span->constant = true;
        span->exact = true;
        known[b.var] = *span;
    } else if (!b.min.defined() && b.extent.defined() && estimate != known.end()) {
        const std::optional<int64_t> extent = as_const_int(simplify(b.extent));
        estimate->second.exact = extent && *extent == estimate->second.extent();
    }
}

void require_usable_estimate(const std::map<std::string, Span> &known,
                             const Function &output,
                             const std::string &arg) {
    const auto it = known.find(arg);
    if (it == known.end()) {
        throw UserError("Output Func \"" + output.name() + "\" has no estimate for dimension \"" +
                        arg + "\". Call set_estimate(" + arg +
                        ", min, extent), or set_estimates({{min, extent}, ...}) for all " +
                        "dimensions of the output.");
    }
    if (it->second.is_empty()) {
        throw UserError("Output Func \"" + output.name() + "\" has an estimated extent of " +
                        std::to_string(it->second.extent()) + " in dimension \"" + arg +
                        "\". Estimate an extent of at least 1.");
    }
}

}  // namespace

Expr substitute_estimates(const Expr &e) {
    return e.defined() ? EstimateSubstitution().mutate(e) : e;
}

Expr estimated_value(const Expr &e) {
    Expr result = simplified(substitute_estimates(e));
    MissingEstimateCheck check;
    result.accept(&check);
    return result;
}

FuncValueBounds substitute_estimates(const FuncValueBounds &bounds) {
    EstimateSubstitution substitution;
    FuncValueBounds result;
    for (const auto &entry : bounds) {
        Interval interval = entry.second;
        if (interval.has_lower_bound()) {
            interval.min = substitution.mutate(interval.min);
        }
        if (interval.has_upper_bound()) {
            interval.max = substitution.mutate(interval.max);
        }
        result[entry.first] = interval;
    }
    return result;
}

bool depends_on_estimate(const Expr &e) {
    EstimateFinder finder;
    if (e.defined()) {
        e.accept(&finder);
    }
    return finder.found;
}

std::vector<Span> estimated_region(const Function &output) {
    std::map<std::string, Span> known = buffer_estimates(output);
    for (const Bound &b : output.schedule().estimates()) {
        if (!b.min.defined() || !b.extent.defined()) {
            continue;  // left behind by bound_extent
        }
        const std::optional<Span> span = constant_span(b.min, b.extent);
        if (!span) {
            throw UserError("The estimate of dimension \"" + b.var + "\" of output Func \"" +
                            output.name() + "\" is not constant. Pass constants to set_estimate.");
        }
        known[b.var] = *span;
    }
    for (const Bound &b : output.schedule().bounds()) {
        apply_bound(b, known);
    }
    std::vector<Span> region;
    for (const std::string &arg : output.args()) {
        require_usable_estimate(known, output, arg);
        region.push_back(known[arg]);
    }
    return region;
}

}  // namespace anderson2021
