#include "frontend/stage_features.h"

#include "frontend/access_derivative.h"
#include "frontend/simplified.h"

namespace anderson2021 {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;
using Halide::Type;

namespace {

// How many entries of one row or column of an access matrix are exactly 0 and exactly 1.
struct LineCounts {
    int zeros = 0;
    int ones = 0;
    int length = 0;

    void add(const Rational &entry) {
        zeros += entry.is(0) ? 1 : 0;
        ones += entry.is(1) ? 1 : 0;
        length++;
    }
    bool is_unit() const { return ones == 1 && zeros == length - 1; }
    bool is_zero() const { return zeros == length; }
};

struct PatternSet {
    bool pointwise, transpose, broadcast, slice;
};

PatternSet classify(const AccessJacobian &j) {
    const int rows = j.rows();
    const int cols = j.cols();
    PatternSet p{rows == cols, rows == cols, true, true};
    std::vector<LineCounts> columns(static_cast<size_t>(cols));
    for (int i = 0; i < rows; i++) {
        LineCounts row;
        for (int k = 0; k < cols; k++) {
            const Rational entry = j.at(i, k);
            row.add(entry);
            columns[static_cast<size_t>(k)].add(entry);
            p.pointwise = p.pointwise && entry.is(i == k ? 1 : 0);
        }
        p.transpose = p.transpose && row.is_unit();
        p.broadcast = p.broadcast && row.is_unit();
        p.slice = p.slice && (row.is_unit() || row.is_zero());
    }
    for (const LineCounts &column : columns) {
        p.transpose = p.transpose && (column.is_unit() || column.is_zero());
        p.broadcast = p.broadcast && column.is_unit();
        p.slice = p.slice && column.is_unit();
    }
    return p;
}

void add_load(std::vector<AccessJacobian> &distinct, AccessJacobian access) {
    for (AccessJacobian &known : distinct) {
        if (known.same_entries(access)) {
            known.increment_count();
            return;
        }
    }
    distinct.push_back(std::move(access));
}

// Plain tree walk, operands before operations, so that shared cheap parts count at each use.
class FeatureVisitor : public IRVisitor {
public:
    FeatureVisitor(const std::string &func_name,
                   const std::vector<std::string> &loops,
                   StageFeatures &result)
        : func_name_(func_name), differentiator_(loops), result_(result) {}

    AccessJacobian add_store(const std::vector<Expr> &coordinates, const Type &type) {
        AccessJacobian access = differentiator_.jacobian(coordinates);
        add_access(AccessKind::Store, type, access);
        return access;
    }

private:
    using IRVisitor::visit;

    // Compat: casts are not counted, only what they convert; the default visitor does that.
    void visit(const IntImm *op) override { count(OpClass::Const, op->type); }
    void visit(const UIntImm *op) override { count(OpClass::Const, op->type); }
    void visit(const FloatImm *op) override { count(OpClass::Const, op->type); }
    void visit(const Variable *op) override {
        count(op->param.defined() ? OpClass::Param : OpClass::Variable, op->type);
    }
    void visit(const Add *op) override { count_node(OpClass::Add, op); }
    void visit(const Sub *op) override { count_node(OpClass::Sub, op); }
    void visit(const Mod *op) override { count_node(OpClass::Mod, op); }
    void visit(const Mul *op) override { count_node(OpClass::Mul, op); }
    void visit(const Div *op) override { count_node(OpClass::Div, op); }
    void visit(const Min *op) override { count_node(OpClass::Min, op); }
    void visit(const Max *op) override { count_node(OpClass::Max, op); }
    void visit(const EQ *op) override { count_node(OpClass::EQ, op); }
    void visit(const NE *op) override { count_node(OpClass::NE, op); }
    void visit(const LT *op) override { count_node(OpClass::LT, op); }
    void visit(const GT *op) override { count_node(OpClass::LT, op); }
    void visit(const LE *op) override { count_node(OpClass::LE, op); }
    void visit(const GE *op) override { count_node(OpClass::LE, op); }
    void visit(const And *op) override { count_node(OpClass::And, op); }
    void visit(const Or *op) override { count_node(OpClass::Or, op); }
    void visit(const Not *op) override { count_node(OpClass::Not, op); }
    void visit(const Select *op) override { count_node(OpClass::Select, op); }

    void visit(const Let *op) override {
        op->value.accept(this);
        differentiator_.push_let(op->name, op->value);
        op->body.accept(this);
        differentiator_.pop_let(op->name);
        count(OpClass::Let, op->type);
    }

    void visit(const Call *op) override {
        IRVisitor::visit(op);
        switch (op->call_type) {
        case Call::Halide:
            if (op->name == func_name_) {
                count(OpClass::SelfCall, op->type);
                add_access(AccessKind::LoadSelf, op->type, differentiator_.jacobian(op->args));
            } else {
                count(OpClass::FuncCall, op->type);
                load(AccessKind::LoadFunc, op);
            }
            break;
        case Call::Image:
            count(OpClass::ImageCall, op->type);
            load(AccessKind::LoadImage, op);
            break;
        case Call::ExternCPlusPlus:
            break;
        default:
            count(OpClass::ExternCall, op->type);
        }
    }

    template<typename T>
    void count_node(OpClass op_class, const T *op) {
        IRVisitor::visit(op);
        count(op_class, op->type);
    }

    void count(OpClass op_class, const Type &type) {
        const ScalarClass c = scalar_class(type);
        result_.counts[op_index(op_class, c)]++;
        result_.counts[type_in_use_index(c)] = 1;
    }

    void load(AccessKind kind, const Call *op) {
        AccessJacobian access = differentiator_.jacobian(op->args);
        add_access(kind, op->type, access);
        add_load(result_.loads[op->name], std::move(access));
    }

    // Compat: an access does not mark its type as in use.
    void add_access(AccessKind kind, const Type &type, const AccessJacobian &access) {
        const PatternSet p = classify(access);
        const ScalarClass c = scalar_class(type);
        const auto add = [&](AccessPattern pattern, bool holds) {
            result_.counts[access_index(pattern, kind, c)] += holds ? 1 : 0;
        };
        add(AccessPattern::Pointwise, p.pointwise);
        add(AccessPattern::Transpose, p.transpose);
        add(AccessPattern::Broadcast, p.broadcast);
        add(AccessPattern::Slice, p.slice);
    }

    const std::string &func_name_;
    AccessDifferentiator differentiator_;
    StageFeatures &result_;
};

}  // namespace

Expr canonical(const Expr &e) {
    return common_subexpression_elimination(simplified(e));
}

ScalarClass scalar_class(const Type &t) {
    if (t.is_float() || t.is_bfloat()) {
        return t.bits() > 32 ? ScalarClass::Double : ScalarClass::Float;
    }
    if (t.bits() == 1) {
        return ScalarClass::Bool;
    }
    if (t.bits() <= 8) {
        return ScalarClass::UInt8;
    }
    if (t.bits() <= 16) {
        return ScalarClass::UInt16;
    }
    return t.bits() <= 32 ? ScalarClass::UInt32 : ScalarClass::UInt64;
}

StageFeatures stage_features(const std::string &func_name,
                             const Definition &def,
                             const std::vector<std::string> &loops) {
    std::vector<Expr> coordinates;
    for (const Expr &arg : def.args()) {
        coordinates.push_back(canonical(arg));
    }
    StageFeatures result;
    FeatureVisitor visitor(func_name, loops, result);
    for (const Expr &value : def.values()) {
        result.store = visitor.add_store(coordinates, value.type());
        canonical(value).accept(&visitor);
    }
    for (const Expr &c : coordinates) {
        c.accept(&visitor);
    }
    return result;
}

}  // namespace anderson2021
