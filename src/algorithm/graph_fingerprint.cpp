#include "algorithm/graph_fingerprint.h"

namespace anderson2021 {

namespace {

class GraphFingerprint {
public:
    explicit GraphFingerprint(Fingerprint &out) : out_(out) {}

    void add(const PipelineGraph &graph) {
        add_all(graph.funcs);
        add_all(graph.edges);
        add_all(graph.branching);
    }

private:
    template<typename T>
    void add_all(const std::vector<T> &values) {
        out_.add(values.size());
        for (const T &value : values) {
            add(value);
        }
    }

    void add(int64_t value) { out_.add(static_cast<uint64_t>(value)); }
    void add(int value) { add(static_cast<int64_t>(value)); }
    void add(bool value) { add(int64_t{value}); }
    void add(const std::string &text) { out_.add(text); }

    void add(const Span &span) {
        add(span.min);
        add(span.max);
        add(span.constant);
        add(span.exact);
    }

    void add(const BoundExpr &e) {
        add(static_cast<int>(e.kind));
        add(e.span);
        add(e.uses_max);
        add(e.coeff);
        add(e.add);
        add(e.exact);
        add(e.program != nullptr ? e.program->text() : std::string());
    }

    void add(const EdgeBound &bound) {
        add(bound.min);
        add(bound.max);
    }

    void add(const AccessJacobian &j) {
        add(j.rows());
        add(j.cols());
        add(j.count());
        for (int row = 0; row < j.rows(); row++) {
            for (int col = 0; col < j.cols(); col++) {
                add(int64_t{j.at(row, col).n});
                add(int64_t{j.at(row, col).d});
            }
        }
    }

    void add(const LoopDim &l) {
        add(l.var);
        add(l.pure);
        add(l.rvar);
        add(l.pure_dim);
        add(l.dims_index);
        add(static_cast<int>(l.source));
        add(l.computed_dim);
        add(l.constant_span);
        add(l.min_expr);
        add(l.max_expr);
    }

    void add(const ComputedDim &d) {
        add(static_cast<int>(d.kind));
        add(d.union_min);
        add(d.union_max);
        add(d.min_expr);
        add(d.max_expr);
    }

    void add(const StageNode &s) {
        add(s.name);
        add_all(s.loops);
        for (const int32_t feature : s.features) {
            add(int64_t{feature});
        }
        add(s.store_jacobian.has_value());
        if (s.store_jacobian) {
            add(*s.store_jacobian);
        }
        add_all(s.incoming_edges);
        add(s.reads_input);
    }

    void add(const FuncNode &f) {
        add(f.name);
        add_all(f.args);
        add(f.bytes_per_point);
        add_all(f.stages);
        add_all(f.computed);
        add_all(f.estimate);
        add_all(f.outgoing_edges);
        for (const bool flag : {f.is_output,
                                f.is_input,
                                f.is_wrapper,
                                f.is_pointwise,
                                f.is_boundary_condition,
                                f.is_trivial_to_inline,
                                f.is_extern,
                                f.is_partial_result}) {
            add(flag);
        }
    }

    void add(const Edge &e) {
        add(e.producer);
        add(e.consumer_stage);
        add_all(e.bounds);
        add(e.calls);
        add_all(e.load_jacobians);
    }

    void add(const BranchingTree::Node &n) {
        add(static_cast<int>(n.op));
        add(n.func);
        add_all(n.operands);
    }
    void add(const BranchingTree &t) {
        add_all(t.nodes);
        add(t.root);
    }
    void add(const BranchingForm &f) {
        add_all(f.values);
        add_all(f.args);
    }

    Fingerprint &out_;
};

}  // namespace

void add_graph(const PipelineGraph &graph, Fingerprint &fingerprint) {
    GraphFingerprint(fingerprint).add(graph);
}

}  // namespace anderson2021
