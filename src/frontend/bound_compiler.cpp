#include "frontend/bound_compiler.h"

#include <memory>
#include <sstream>

#include "algorithm/bound_program.h"
#include "frontend/simplified_bound.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;
using Halide::Type;

using SpanEnds = std::map<std::string, std::pair<int, bool>>;

bool is_supported(const Type &t) {
    return t.is_scalar() && ((t.is_int() && t.bits() <= 64) || (t.is_uint() && t.bits() <= 32));
}

IntType int_type(const Type &t) {
    return {t.is_int(), t.bits()};
}

// Emits the instructions of an expression; gives up at the first node it has no instruction for.
class ProgramEmitter : public IRVisitor {
public:
    explicit ProgramEmitter(const SpanEnds &ends) : ends_(ends) {}

    bool emit(const Expr &e) {
        e.accept(this);
        return supported_;
    }
    BoundProgramBuilder &builder() { return builder_; }

private:
    using IRVisitor::visit;

    void visit(const IntImm *op) override { literal(op->type, op->value); }
    void visit(const UIntImm *op) override { literal(op->type, static_cast<int64_t>(op->value)); }
    void visit(const FloatImm *) override { supported_ = false; }
    void visit(const StringImm *) override { supported_ = false; }
    void visit(const Reinterpret *) override { supported_ = false; }
    void visit(const Load *) override { supported_ = false; }
    void visit(const Ramp *) override { supported_ = false; }
    void visit(const Broadcast *) override { supported_ = false; }
    void visit(const Shuffle *) override { supported_ = false; }
    void visit(const VectorReduce *) override { supported_ = false; }

    void visit(const Add *op) override { arithmetic(BoundOp::Add, op); }
    void visit(const Sub *op) override { arithmetic(BoundOp::Sub, op); }
    void visit(const Mul *op) override { arithmetic(BoundOp::Mul, op); }
    void visit(const Div *op) override { arithmetic(BoundOp::Div, op); }
    void visit(const Mod *op) override { arithmetic(BoundOp::Mod, op); }
    void visit(const Min *op) override { arithmetic(BoundOp::Min, op); }
    void visit(const Max *op) override { arithmetic(BoundOp::Max, op); }
    void visit(const EQ *op) override { comparison(BoundOp::EQ, op->a, op->b); }
    void visit(const NE *op) override { comparison(BoundOp::NE, op->a, op->b); }
    void visit(const LT *op) override { comparison(BoundOp::LT, op->a, op->b); }
    void visit(const LE *op) override { comparison(BoundOp::LE, op->a, op->b); }
    void visit(const GT *op) override { comparison(BoundOp::LT, op->b, op->a); }
    void visit(const GE *op) override { comparison(BoundOp::LE, op->b, op->a); }
    void visit(const And *op) override { comparison(BoundOp::And, op->a, op->b); }
    void visit(const Or *op) override { comparison(BoundOp::Or, op->a, op->b); }

    void visit(const Not *op) override {
        if (operand(op->a)) {
            builder_.operation(BoundOp::Not);
        }
    }

    void visit(const Select *op) override {
        if (check(op->type) && operand(op->condition) && operand(op->true_value) &&
            operand(op->false_value)) {
            builder_.operation(BoundOp::Select);
        }
    }

    void visit(const Cast *op) override {
        if (check(op->type) && check(op->value.type()) && operand(op->value)) {
            // A boolean is "not zero", not the lowest bit.
            if (op->type.is_bool()) {
                builder_.literal(0);
                builder_.operation(BoundOp::NE);
            } else {
                builder_.wrap(int_type(op->type));
            }
        }
    }

    void visit(const Let *op) override {
        if (!operand(op->value)) {
            return;
        }
        const int local = builder_.store_local();
        const auto shadowed = locals_.find(op->name);
        const std::optional<int> previous =
            shadowed == locals_.end() ? std::nullopt : std::optional<int>(shadowed->second);
        locals_[op->name] = local;
        operand(op->body);
        if (previous) {
            locals_[op->name] = *previous;
        } else {
            locals_.erase(op->name);
        }
    }

    void visit(const Variable *op) override {
        const auto local = locals_.find(op->name);
        const auto end = ends_.find(op->name);
        if (local != locals_.end()) {
            builder_.load_local(local->second);
        } else if (end != ends_.end() && op->type == Halide::Int(32)) {
            builder_.end(end->second.first, end->second.second);
        } else {
            supported_ = false;
        }
    }

    void visit(const Call *op) override {
        if (op->is_intrinsic({Call::likely, Call::likely_if_innermost})) {
            operand(op->args[0]);
        } else {
            supported_ = false;
        }
    }

    bool check(const Type &t) {
        supported_ = supported_ && is_supported(t);
        return supported_;
    }

    bool operand(const Expr &e) {
        if (supported_) {
            e.accept(this);
        }
        return supported_;
    }

    void literal(const Type &t, int64_t value) {
        if (check(t)) {
            builder_.literal(value);
        }
    }

    template<typename T>
    void arithmetic(BoundOp instruction, const T *op) {
        if (check(op->type) && operand(op->a) && operand(op->b)) {
            builder_.operation(instruction, int_type(op->type));
        }
    }

    void comparison(BoundOp instruction, const Expr &a, const Expr &b) {
        if (check(a.type()) && operand(a) && operand(b)) {
            builder_.operation(instruction);
        }
    }

    const SpanEnds &ends_;
    std::map<std::string, int> locals_;
    BoundProgramBuilder builder_;
    bool supported_ = true;
};

std::string text_of(const Expr &e) {
    std::ostringstream text;
    text << e;
    return text.str();
}

// Free variables must be ends of spans, else no evaluation could ever succeed.
class VariableCheck : public IRGraphVisitor {
public:
    explicit VariableCheck(const SpanEnds &ends) : ends_(ends) {}

private:
    using IRGraphVisitor::visit;

    void visit(const Let *op) override {
        op->value.accept(this);
        const ScopedBinding<> bind(bound_, op->name);
        op->body.accept(this);
    }

    void visit(const Variable *op) override {
        ANDERSON_CHECK(bound_.contains(op->name) || ends_.count(op->name) > 0)
            << "A bound depends on \"" << op->name << "\", which is no end of a loop or region";
    }

    const SpanEnds &ends_;
    Scope<> bound_;
};

}  // namespace

std::string min_variable(const std::string &name) {
    return name + ".min";
}

std::string max_variable(const std::string &name) {
    return name + ".max";
}

BoundCompiler::BoundCompiler(const std::vector<std::string> &names) {
    for (size_t i = 0; i < names.size(); i++) {
        ends_[min_variable(names[i])] = {static_cast<int>(i), false};
        ends_[max_variable(names[i])] = {static_cast<int>(i), true};
    }
}

std::optional<BoundExpr> BoundCompiler::as_affine(const Expr &e) const {
    if (const std::optional<int64_t> k = as_const_int(e)) {
        return BoundExpr::constant(*k);
    }
    const Add *sum = e.as<Add>();
    const std::optional<int64_t> addend = sum ? as_const_int(sum->b) : std::optional<int64_t>(0);
    const Expr term = sum ? sum->a : e;
    const Mul *product = term.as<Mul>();
    const std::optional<int64_t> coeff =
        product ? as_const_int(product->b) : std::optional<int64_t>(1);
    const Expr factor = product ? product->a : term;
    const Variable *v = factor.as<Variable>();
    if (!addend || !coeff || v == nullptr) {
        return std::nullopt;
    }
    const auto end = ends_.find(v->name);
    ANDERSON_CHECK(end != ends_.end())
        << "A bound depends on \"" << v->name << "\", which is no end of a loop or region";
    return BoundExpr::affine(end->second.first, end->second.second, *coeff, *addend);
}

BoundExpr BoundCompiler::compile(const Expr &e) const {
    if (const std::optional<BoundExpr> simple = as_affine(e)) {
        return *simple;
    }
    VariableCheck check(ends_);
    e.accept(&check);
    BoundExpr result;
    result.kind = BoundExpr::Kind::Program;
    ProgramEmitter emitter(ends_);
    if (emitter.emit(common_subexpression_elimination(e))) {
        result.program = emitter.builder().finish([e] { return text_of(e); });
    } else {
        result.program = std::make_shared<SimplifiedBound>(e, ends_);
    }
    return result;
}

}  // namespace anderson2021
