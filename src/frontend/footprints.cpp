#include "frontend/footprints.h"

#include <optional>

#include "frontend/bound_compiler.h"
#include "frontend/estimates.h"
#include "frontend/load_bounds.h"
#include "frontend/simplified.h"
#include "support/error.h"

namespace anderson2021 {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;

namespace {

using Boxes = std::map<std::string, Box>;

// Nor would the compiler take an input that is read at any place.
[[noreturn]] void throw_unbounded(const StageSource &stage, const Function &producer, size_t dim) {
    const Call *image = producer.is_wrapper();
    const bool is_input = image != nullptr && image->call_type == Call::Image;
    throw UserError(
        "\"" + stage.node.name + "\" reads " +
        (is_input ? "input \"" + image->name + "\"" : "Func \"" + producer.name() + "\"") +
        " at unbounded coordinates in dimension " + std::to_string(dim) +
        (is_input ? "" : " (\"" + producer.args()[dim] + "\")") +
        ". Limit the coordinate with clamp().");
}

// Whether some bound of the stage may depend on an estimate at all; if not, there is no need to
// look at every one of them.
bool may_depend_on_estimate(const Expr &bundle,
                            const ExpressionScan &scan,
                            const PipelineFacts &facts) {
    if (depends_on_estimate(bundle)) {
        return true;
    }
    for (const auto &call : scan.calls) {
        if (facts.estimated_values.count(call.first) > 0) {
            return true;
        }
    }
    return false;
}

// Whether a side of a box is the same without any estimate.
bool is_exact_side(const Boxes &with_parameters, const std::string &name, size_t dim, bool max) {
    const auto box = with_parameters.find(name);
    if (box == with_parameters.end() || dim >= box->second.size()) {
        return false;
    }
    const Interval &side = box->second[dim];
    const bool bounded = max ? side.has_upper_bound() : side.has_lower_bound();
    return bounded && !depends_on_estimate(simplified(max ? side.max : side.min));
}

EdgeBound compile_side_pair(const Interval &interval, const BoundCompiler &compiler) {
    EdgeBound bound;
    bound.min = compiler.compile(estimated_value(interval.min));
    bound.max = compiler.compile(estimated_value(interval.max));
    return bound;
}

}  // namespace

std::vector<Edge> footprint_edges(const StageSource &stage,
                                  const Expr &bundle,
                                  const ExpressionScan &scan,
                                  const PipelineFacts &facts) {
    Scope<Interval> scope;
    stage.domain.bind_loops(stage.def, scope);
    const Boxes boxes =
        boxes_required(substitute_estimates(bundle), scope, facts.estimated_value_bounds);
    std::optional<Boxes> with_parameters;
    if (may_depend_on_estimate(bundle, scan, facts)) {
        with_parameters = boxes_required(bundle, scope, facts.value_bounds);
    }
    const BoundCompiler compiler(stage.domain.span_names(stage.node.loops));
    std::vector<Edge> edges;
    for (const auto &box : boxes) {
        const auto id = facts.func_ids.find(box.first);
        if (id == facts.func_ids.end() || box.first == stage.func.name()) {
            continue;  // an image or the Func itself
        }
        Edge edge;
        edge.producer = id->second;
        edge.consumer_stage = stage.node.id;
        edge.calls = scan.calls.at(box.first);
        for (size_t i = 0; i < box.second.size(); i++) {
            const Interval side = without_loads(box.second[i]);
            if (!side.is_bounded()) {
                throw_unbounded(stage, facts.env.at(box.first), i);
            }
            EdgeBound bound = compile_side_pair(side, compiler);
            if (with_parameters) {
                bound.min.exact = is_exact_side(*with_parameters, box.first, i, false);
                bound.max.exact = is_exact_side(*with_parameters, box.first, i, true);
            }
            edge.bounds.push_back(std::move(bound));
        }
        edges.push_back(std::move(edge));
    }
    return edges;
}

std::vector<Edge>
extern_edges(const Function &f, const StageNode &node, const PipelineFacts &facts) {
    std::map<std::string, int64_t> calls;
    for (const Halide::ExternFuncArgument &argument : f.extern_arguments()) {
        if (argument.is_func()) {
            calls[Function(argument.func).name()]++;
        }
    }
    std::vector<Edge> edges;
    for (const auto &[name, count] : calls) {
        Edge edge;
        edge.producer = facts.func_ids.at(name);
        edge.consumer_stage = node.id;
        edge.calls = count;
        for (int dim = 0; dim < facts.env.at(name).dimensions(); dim++) {
            EdgeBound bound = {BoundExpr::constant(0), BoundExpr::constant(0)};
            for (size_t l = 0; l < node.loops.size(); l++) {
                if (node.loops[l].pure_dim == dim) {
                    bound.min = BoundExpr::affine(static_cast<int>(l), false, 1, 0);
                    bound.max = BoundExpr::affine(static_cast<int>(l), true, 1, 0);
                }
            }
            bound.min.exact = bound.max.exact = false;
            edge.bounds.push_back(std::move(bound));
        }
        edges.push_back(std::move(edge));
    }
    return edges;
}

}  // namespace anderson2021
