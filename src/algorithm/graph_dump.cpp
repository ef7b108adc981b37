#include "algorithm/graph_dump.h"

#include <iomanip>
#include <sstream>

#include "algorithm/algorithm_features.h"

namespace anderson2021 {

namespace {

// Names of the spans that a bound expression may refer to.
using SpanNames = std::vector<std::string>;

std::string end_name(const SpanNames &names, int span, bool uses_max) {
    return names[static_cast<size_t>(span)] + (uses_max ? ".max" : ".min");
}

std::string bound_text(const BoundExpr &e, const SpanNames &names) {
    if (e.kind == BoundExpr::Kind::Constant) {
        return std::to_string(e.add);
    }
    if (e.kind == BoundExpr::Kind::Program) {
        return e.program->text();
    }
    std::string text = end_name(names, e.span, e.uses_max);
    if (e.coeff != 1) {
        text = "(" + text + "*" + std::to_string(e.coeff) + ")";
    }
    if (e.add != 0) {
        text = "(" + text + " + " + std::to_string(e.add) + ")";
    }
    return text;
}

SpanNames dimension_names(const FuncNode &f) {
    SpanNames names;
    for (const std::string &arg : f.args) {
        names.push_back(f.name + "." + arg);
    }
    return names;
}

SpanNames loop_names(const FuncNode &f, const StageNode &stage) {
    SpanNames names;
    for (const LoopDim &l : stage.loops) {
        names.push_back(f.name + "." + l.var);
    }
    return names;
}

// Padded so that matrices of small entries line up.
std::string rational_text(const Rational &r) {
    if (!r.exists()) {
        return " _  ";
    }
    if (r.d == 1) {
        return " " + std::to_string(r.n) + "  ";
    }
    return std::to_string(r.n) + "/" + std::to_string(r.d) + " ";
}

class GraphPrinter {
public:
    explicit GraphPrinter(const PipelineGraph &graph) : graph_(graph) {}

    std::string print() {
        for (const FuncNode &f : graph_.funcs) {
            print_func(f);
        }
        for (const Edge &e : graph_.edges) {
            print_edge(e);
        }
        return out_.str();
    }

private:
    void print_func(const FuncNode &f) {
        const SpanNames names = dimension_names(f);
        out_ << "Node: " << f.name << "\n  Symbolic region required: \n";
        for (const std::string &name : names) {
            out_ << "    " << name << ".min, " << name << ".max\n";
        }
        out_ << "  Region computed: \n";
        for (size_t i = 0; i < f.computed.size(); i++) {
            print_computed(f.computed[i], i, names);
        }
        for (const StageNode &s : f.stages) {
            print_stage(f, s, names);
        }
        out_ << "  pointwise: " << f.is_pointwise
             << " boundary condition: " << f.is_boundary_condition << " wrapper: " << f.is_wrapper
             << " input: " << f.is_input << " output: " << f.is_output << "\n";
    }

    void print_computed(const ComputedDim &dim, size_t i, const SpanNames &names) {
        const std::string &name = names[i];
        out_ << "    ";
        switch (dim.kind) {
        case ComputedDim::Kind::EqualsRequired:
            out_ << name << ".min, " << name << ".max\n";
            break;
        case ComputedDim::Kind::UnionWithConstants:
            out_ << "min(" << name << ".min, " << dim.union_min << "), max(" << name << ".max, "
                 << dim.union_max << ")\n";
            break;
        case ComputedDim::Kind::Expression:
            out_ << bound_text(dim.min_expr, names) << ", " << bound_text(dim.max_expr, names)
                 << "\n";
            break;
        }
    }

    void print_stage(const FuncNode &f, const StageNode &stage, const SpanNames &names) {
        out_ << "  Stage " << stage.index << ":\n";
        for (const LoopDim &l : stage.loops) {
            out_ << "    " << l.var << " ";
            switch (l.source) {
            case LoopDim::Source::ComputedDim:
                out_ << f.name << "." << l.var << ".min " << f.name << "." << l.var << ".max\n";
                break;
            case LoopDim::Source::Constant:
                out_ << l.constant_span.min << " " << l.constant_span.max << "\n";
                break;
            case LoopDim::Source::Expression:
                out_ << bound_text(l.min_expr, names) << " " << bound_text(l.max_expr, names)
                     << "\n";
                break;
            }
        }
        for (size_t t = 0; t < kNumScalarClasses; t++) {
            const ScalarClass type = static_cast<ScalarClass>(t);
            if (stage.features[type_in_use_index(type)] != 0) {
                print_features(stage, type);
            }
        }
    }

    void print_features(const StageNode &stage, ScalarClass type) {
        out_ << "    Featurization for type " << kScalarClassNames[static_cast<size_t>(type)]
             << "\n     Op histogram:\n";
        for (size_t o = 0; o < kNumOpClasses; o++) {
            const std::string label = std::string(kOpClassNames[o]) + ":";
            out_ << "      " << std::left << std::setw(12) << label
                 << stage.features[op_index(static_cast<OpClass>(o), type)] << "\n";
        }
        out_ << "     Memory access patterns. Columns are calls to other Funcs, self-calls, "
                "input image access, and stores\n";
        for (size_t p = 0; p < kNumAccessPatterns; p++) {
            const std::string label = std::string(kAccessPatternNames[p]) + ":";
            out_ << "      " << std::left << std::setw(15) << label;
            for (size_t a = 0; a < kNumAccessKinds; a++) {
                const size_t at =
                    access_index(static_cast<AccessPattern>(p), static_cast<AccessKind>(a), type);
                out_ << " " << stage.features[at];
            }
            out_ << "\n";
        }
    }

    void print_edge(const Edge &e) {
        const FuncNode &producer = graph_.func(e.producer);
        const StageNode &consumer = graph_.stage(e.consumer_stage);
        const SpanNames names = loop_names(graph_.func(e.consumer_func), consumer);
        out_ << "Edge: " << producer.name << " -> " << consumer.name << "\n  Footprint: \n";
        for (size_t i = 0; i < e.bounds.size(); i++) {
            out_ << "    Min " << i << ": " << bound_text(e.bounds[i].min, names) << "\n"
                 << "    Max " << i << ": " << bound_text(e.bounds[i].max, names) << "\n";
        }
        out_ << "  Load Jacobians:\n";
        for (const AccessJacobian &j : e.load_jacobians) {
            print_jacobian(j);
        }
    }

    void print_jacobian(const AccessJacobian &j) {
        if (j.count() > 1) {
            out_ << "  " << j.count() << " x\n";
        }
        for (int i = 0; i < j.rows(); i++) {
            out_ << "    [";
            for (int k = 0; k < j.cols(); k++) {
                out_ << rational_text(j.at(i, k));
            }
            out_ << "]\n";
        }
        out_ << "\n";
    }

    const PipelineGraph &graph_;
    std::ostringstream out_;
};

}  // namespace

std::string graph_dump(const PipelineGraph &graph) {
    return GraphPrinter(graph).print();
}

}  // namespace anderson2021
