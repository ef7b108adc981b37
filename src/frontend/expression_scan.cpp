#include "frontend/expression_scan.h"

#include <vector>

namespace anderson2021 {

namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Definition;
using Halide::Internal::Function;
using Halide::Internal::IRVisitor;
using Halide::Internal::Variable;

class ExpressionScanner : public IRVisitor {
public:
    ExpressionScanner(const Function &f, ExpressionScan &result)
        : args_(f.args()), result_(result) {}

private:
    using IRVisitor::visit;

    void visit(const Call *op) override {
        IRVisitor::visit(op);
        result_.calls[op->name]++;
        if (op->call_type == Call::Halide || op->call_type == Call::Image) {
            result_.pointwise = result_.pointwise && has_own_coordinates(op);
        }
    }

    bool has_own_coordinates(const Call *op) const {
        if (op->args.size() != args_.size()) {
            return false;
        }
        for (size_t i = 0; i < args_.size(); i++) {
            const Variable *v = op->args[i].as<Variable>();
            if (v == nullptr || v->name != args_[i]) {
                return false;
            }
        }
        return true;
    }

    const std::vector<std::string> &args_;
    ExpressionScan &result_;
};

}  // namespace

Expr bundle_expressions(const Definition &def) {
    std::vector<Expr> parts = def.args();
    parts.insert(parts.end(), def.values().begin(), def.values().end());
    if (def.predicate().defined()) {
        parts.push_back(def.predicate());
    }
    return Call::make(Halide::Int(32), "", parts, Call::Extern);
}

ExpressionScan scan_expressions(const Function &f, const Expr &bundle) {
    ExpressionScan result;
    ExpressionScanner scanner(f, result);
    for (const Expr &part : bundle.as<Call>()->args) {
        part.accept(&scanner);
    }
    return result;
}

}  // namespace anderson2021
