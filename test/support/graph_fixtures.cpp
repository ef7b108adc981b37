#include "graph_fixtures.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "support/error.h"

namespace anderson2021 {
namespace test {

namespace {

/// A bound given as C++ code.
class LambdaProgram : public BoundProgram {
public:
    explicit LambdaProgram(std::function<int64_t(const Span *)> f) : f_(std::move(f)) {}
    int64_t evaluate(const Span *env) const override { return f_(env); }
    std::string text() const override { return "lambda"; }

private:
    std::function<int64_t(const Span *)> f_;
};

BoundExpr program(std::function<int64_t(const Span *)> f) {
    BoundExpr e;
    e.kind = BoundExpr::Kind::Program;
    e.program = std::make_shared<LambdaProgram>(std::move(f));
    return e;
}

int64_t floor_div(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q - (a % b < 0 ? 1 : 0);
}

int loop_of(const StageNode &stage, const std::string &var) {
    for (size_t i = 0; i < stage.loops.size(); i++) {
        if (stage.loops[i].var == var) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

BoundExpr coord_bound(const StageNode &stage, const Coord &c, bool upper) {
    const int64_t add = upper ? c.high : c.low;
    if (c.var.empty()) {
        return BoundExpr::constant(add);
    }
    const int loop = loop_of(stage, c.var);
    ANDERSON_CHECK(loop >= 0) << stage.name << " has no loop " << c.var;
    const bool uses_max = upper == (c.coeff > 0);
    if (!c.plus.empty()) {
        const int other = loop_of(stage, c.plus);
        ANDERSON_CHECK(other >= 0 && c.div == 1) << stage.name << " has no loop " << c.plus;
        return program([=](const Span *env) {
            return c.coeff * (uses_max ? env[loop].max : env[loop].min) +
                   (upper ? env[other].max : env[other].min) + add;
        });
    }
    if (c.div == 1) {
        return BoundExpr::affine(loop, uses_max, c.coeff, add);
    }
    return program([=](const Span *env) {
        return floor_div(c.coeff * (uses_max ? env[loop].max : env[loop].min), c.div) + add;
    });
}

BoundExpr union_bound(std::vector<BoundExpr> parts, bool upper) {
    const BoundExpr &first = parts.front();
    const bool same_shape = std::all_of(parts.begin(), parts.end(), [&](const BoundExpr &e) {
        return e.is_affine() && e.kind == first.kind && e.span == first.span &&
               e.uses_max == first.uses_max && e.coeff == first.coeff;
    });
    if (same_shape) {
        BoundExpr result = first;
        for (const BoundExpr &e : parts) {
            result.add = upper ? std::max(result.add, e.add) : std::min(result.add, e.add);
        }
        return result;
    }
    if (parts.size() == 1) {
        return first;
    }
    return program([=](const Span *env) {
        int64_t value = parts.front().evaluate(env);
        for (const BoundExpr &e : parts) {
            const int64_t v = e.evaluate(env);
            value = upper ? std::max(value, v) : std::min(value, v);
        }
        return value;
    });
}

AccessJacobian jacobian(const StageNode &stage, const std::vector<Coord> &coords, int64_t count) {
    const size_t cols = stage.loops.size();
    std::vector<Rational> entries(coords.size() * cols);
    for (size_t d = 0; d < coords.size(); d++) {
        const Coord &c = coords[d];
        const int loop = loop_of(stage, c.var);
        if (loop >= 0) {
            Rational r{static_cast<int32_t>(c.coeff), static_cast<int32_t>(c.div)};
            if (c.low != 0 || c.high != 0) {
                r += Rational{0, 1};
            }
            entries[d * cols + static_cast<size_t>(loop)] = r;
        }
        const int other = c.plus.empty() ? -1 : loop_of(stage, c.plus);
        if (other >= 0) {
            entries[d * cols + static_cast<size_t>(other)] = Rational{1, 1};
        }
    }
    return {static_cast<int>(coords.size()), static_cast<int>(cols), std::move(entries), count};
}

std::vector<Coord> identity(const std::vector<std::string> &args) {
    std::vector<Coord> coords;
    for (const std::string &a : args) {
        coords.push_back(at(a));
    }
    return coords;
}

LoopDim pure_loop(const FuncNode &f, size_t dim, size_t dims_index) {
    LoopDim loop;
    loop.var = f.args[dim];
    loop.pure = true;
    loop.pure_dim = static_cast<int>(dim);
    loop.dims_index = static_cast<int>(dims_index);
    loop.computed_dim = static_cast<int>(dim);
    return loop;
}

/// value = sum of all calls of the pure definition, in order of the reads.
BranchingForm branching_form(const PipelineGraph &graph, const StageNode &pure, size_t num_args) {
    using Op = BranchingTree::Op;
    BranchingTree value;
    const auto push = [&](Op op, int func, std::vector<int> operands) {
        BranchingTree::Node node;
        node.op = op;
        node.func = func;
        node.operands = std::move(operands);
        value.nodes.push_back(std::move(node));
        return static_cast<int>(value.nodes.size()) - 1;
    };
    int root = -1;
    for (const int id : pure.incoming_edges) {
        const Edge &e = graph.edge(id);
        std::vector<int> coords;
        for (int d = 0; d < graph.func(e.producer).dims(); d++) {
            coords.push_back(push(Op::Leaf, -1, {}));
        }
        const int call = push(Op::Call, e.producer, coords);
        root = root < 0 ? call : push(Op::Binary, -1, {root, call});
    }
    value.root = root < 0 ? push(Op::Leaf, -1, {}) : root;
    BranchingTree arg;
    arg.nodes.resize(1);
    arg.root = 0;
    return {{value}, std::vector<BranchingTree>(num_args, arg)};
}

}  // namespace

GraphBuilder &GraphBuilder::func(const std::string &name, const std::vector<std::string> &args) {
    FuncNode f;
    f.name = name;
    f.args = args;
    f.bytes_per_point = 4;
    f.computed.resize(args.size());
    StageNode stage;
    stage.name = name;
    for (size_t d = 0; d < args.size(); d++) {
        stage.loops.push_back(pure_loop(f, d, d));
    }
    stage.store_jacobian = jacobian(stage, identity(args), 1);
    f.stages.push_back(std::move(stage));
    graph_.funcs.push_back(std::move(f));
    return *this;
}

GraphBuilder &GraphBuilder::update(const std::vector<RVarRange> &rvars,
                                   const std::vector<Coord> &lhs) {
    FuncNode &f = current();
    StageNode stage;
    stage.name = f.name + ".update(" + std::to_string(f.stages.size() - 1) + ")";
    for (const RVarRange &r : rvars) {
        LoopDim loop;
        loop.var = r.name;
        loop.pure = r.pure;
        loop.rvar = true;
        loop.dims_index = static_cast<int>(stage.loops.size());
        loop.source = LoopDim::Source::Constant;
        loop.constant_span = {r.min, r.max, true, true};
        stage.loops.push_back(loop);
    }
    for (size_t d = 0; d < f.args.size(); d++) {
        if (lhs[d].var == f.args[d]) {
            stage.loops.push_back(pure_loop(f, d, stage.loops.size()));
        }
    }
    stage.store_jacobian = jacobian(stage, lhs, 1);
    f.stages.push_back(std::move(stage));
    return *this;
}

GraphBuilder &
GraphBuilder::reads(const std::string &producer, const std::vector<Coord> &coords, int64_t count) {
    const size_t func = graph_.funcs.size() - 1;
    const size_t stage = current().stages.size() - 1;
    for (Read &r : reads_) {
        if (r.func == func && r.stage == stage && r.producer == producer) {
            r.accesses.push_back({coords, count});
            return *this;
        }
    }
    reads_.push_back({func, stage, producer, {{coords, count}}});
    return *this;
}

GraphBuilder &GraphBuilder::output(const std::vector<int64_t> &extents, bool bounded) {
    std::vector<Span> region;
    for (const int64_t e : extents) {
        region.push_back({0, e - 1, bounded, bounded});
    }
    return output_region(region);
}

GraphBuilder &GraphBuilder::output_region(const std::vector<Span> &region) {
    current().is_output = true;
    current().estimate = region;
    return *this;
}

GraphBuilder &GraphBuilder::input() {
    current().is_input = true;
    current().is_wrapper = true;
    current().is_pointwise = true;
    return *this;
}

GraphBuilder &GraphBuilder::wrapper() {
    current().is_wrapper = true;
    current().is_pointwise = true;
    return *this;
}

GraphBuilder &GraphBuilder::pointwise() {
    current().is_pointwise = true;
    return *this;
}

GraphBuilder &GraphBuilder::bytes_per_point(int64_t bytes) {
    current().bytes_per_point = bytes;
    return *this;
}

GraphBuilder &GraphBuilder::computed_includes(int dim, int64_t low, int64_t high) {
    ComputedDim &c = current().computed[static_cast<size_t>(dim)];
    c.kind = ComputedDim::Kind::UnionWithConstants;
    c.union_min = low;
    c.union_max = high;
    return *this;
}

Edge GraphBuilder::make_edge(const Read &read) const {
    const StageNode &stage = graph_.funcs[read.func].stages[read.stage];
    Edge edge;
    edge.producer = graph_.find_func(read.producer);
    edge.consumer_stage = stage.id;
    for (const Access &a : read.accesses) {
        edge.calls += a.count;
        const AccessJacobian j = jacobian(stage, a.coords, a.count);
        const auto same =
            std::find_if(edge.load_jacobians.begin(),
                         edge.load_jacobians.end(),
                         [&](const AccessJacobian &other) { return other.same_entries(j); });
        if (same == edge.load_jacobians.end()) {
            edge.load_jacobians.push_back(j);
            continue;
        }
        for (int64_t i = 0; i < a.count; i++) {
            same->increment_count();
        }
    }
    const size_t dims = read.accesses.front().coords.size();
    for (size_t d = 0; d < dims; d++) {
        std::vector<BoundExpr> lower, upper;
        for (const Access &a : read.accesses) {
            lower.push_back(coord_bound(stage, a.coords[d], false));
            upper.push_back(coord_bound(stage, a.coords[d], true));
        }
        edge.bounds.push_back({union_bound(lower, false), union_bound(upper, true)});
    }
    return edge;
}

PipelineGraph GraphBuilder::build() {
    int stage_id = 0;
    for (size_t i = 0; i < graph_.funcs.size(); i++) {
        graph_.funcs[i].id = static_cast<int>(i);
        for (StageNode &s : graph_.funcs[i].stages) {
            s.id = stage_id++;
        }
    }
    std::stable_sort(reads_.begin(), reads_.end(), [](const Read &a, const Read &b) {
        return std::tie(a.func, a.stage, a.producer) < std::tie(b.func, b.stage, b.producer);
    });
    for (const Read &r : reads_) {
        ANDERSON_CHECK(graph_.find_func(r.producer) >= 0) << "Unknown producer " << r.producer;
        graph_.edges.push_back(make_edge(r));
    }
    graph_.finish();
    for (size_t f = 0; f < graph_.funcs.size(); f++) {
        graph_.branching[f] =
            branching_form(graph_, graph_.funcs[f].stages[0], graph_.funcs[f].args.size());
    }
    return std::move(graph_);
}

PipelineGraph mat_mul_graph(int64_t size) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({size, size}).wrapper().reads("prod", {at("x"), at("y")});
    b.func("prod", {"x", "y"});
    b.update({{"r", 0, size - 1}}, {at("x"), at("y")})
        .reads("A_im", {at("x"), at("r")})
        .reads("B_im", {at("r"), at("y")});
    b.func("B_im", {"_0", "_1"}).input();
    b.func("A_im", {"_0", "_1"}).input();
    return b.build();
}

PipelineGraph stencil_graph(int64_t size) {
    GraphBuilder b;
    b.func("h", {"x"}).output({size}).wrapper().reads("g", {at("x")});
    b.func("g", {"x"}).reads("f", {at("x", -1, 1)}, 3);
    b.func("f", {"x"}).pointwise();
    return b.build();
}

PipelineGraph harris_graph(int64_t width, int64_t height) {
    const std::vector<std::string> xy{"x", "y"};
    const std::vector<Coord> here{at("x"), at("y")};
    const std::vector<Coord> window{at("x", -1, 1), at("y", -1, 1)};
    GraphBuilder b;
    b.func("output", xy).output({width, height}, false).pointwise();
    b.reads("det", here).reads("trace", here);
    b.func("trace", xy).pointwise().reads("Sxx", here).reads("Syy", here);
    b.func("det", xy).pointwise().reads("Sxx", here).reads("Syy", here).reads("Sxy", here);
    b.func("Syy", xy).reads("Iyy", window, 9);
    b.func("Iyy", xy).pointwise().reads("Iy", here);
    b.func("Sxy", xy).reads("Ixy", window, 9);
    b.func("Ixy", xy).pointwise().reads("Ix", here).reads("Iy", here);
    b.func("Iy", xy).reads("gray", window, 6);
    b.func("Sxx", xy).reads("Ixx", window, 9);
    b.func("Ixx", xy).pointwise().reads("Ix", here);
    b.func("Ix", xy).reads("gray", window, 6);
    b.func("gray", xy);
    for (int64_t c = 0; c < 3; c++) {
        b.reads("input", {at("x"), at("y"), constant(c, c)});
    }
    b.func("input", {"_0", "_1", "_2"}).input();
    return b.build();
}

PipelineGraph histogram_graph() {
    GraphBuilder b;
    b.func("out", {"x"}).output({256}).reads("hist", {at("x")});
    b.func("hist", {"i"}).computed_includes(0, 0, 255);
    b.update({{"r$x", 0, 255}, {"r$y", 0, 255}}, {constant(0, 255)})
        .reads("in", {at("r$x"), at("r$y")}, 2);
    b.func("in", {"_0", "_1"}).bytes_per_point(1).input();
    return b.build();
}

PipelineGraph scalar_reduction_graph() {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({64, 32}).reads("sum", {});
    b.func("sum", {});
    b.update({{"r", 0, 99}}, {}).reads("in", {at("r")});
    b.func("in", {"_0"}).input();
    return b.build();
}

}  // namespace test
}  // namespace anderson2021
