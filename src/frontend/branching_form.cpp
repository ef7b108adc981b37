#include "frontend/branching_form.h"

#include <vector>

#include "frontend/stage_features.h"

namespace anderson2021 {

namespace {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;

class TreeBuilder : public IRVisitor {
public:
    explicit TreeBuilder(const std::map<std::string, int> &func_ids) : func_ids_(func_ids) {}

    BranchingTree build(const Expr &e) {
        tree_.root = add(e);
        return std::move(tree_);
    }

private:
    using Op = BranchingTree::Op;
    using IRVisitor::visit;

    // Index of the node made for `e`.
    int add(const Expr &e) {
        if (!e.defined()) {
            return push(Op::Absent, {});
        }
        e.accept(this);
        return last_;
    }

    int push(Op op, std::vector<int> operands, int func = -1) {
        BranchingTree::Node node;
        node.op = op;
        node.func = func;
        node.operands = std::move(operands);
        tree_.nodes.push_back(std::move(node));
        last_ = static_cast<int>(tree_.nodes.size()) - 1;
        return last_;
    }

    void unary(const Expr &a) { push(Op::Same, {add(a)}); }

    void binary(const Expr &a, const Expr &b) {
        const int left = add(a);
        const int right = add(b);
        push(Op::Binary, {left, right});
    }

    std::vector<int> add_all(const std::vector<Expr> &list) {
        std::vector<int> result;
        for (const Expr &e : list) {
            result.push_back(add(e));
        }
        return result;
    }

    void visit(const IntImm *) override { push(Op::Leaf, {}); }
    void visit(const UIntImm *) override { push(Op::Leaf, {}); }
    void visit(const FloatImm *) override { push(Op::Leaf, {}); }
    void visit(const StringImm *) override { push(Op::Leaf, {}); }
    void visit(const Variable *) override { push(Op::Leaf, {}); }
    void visit(const Cast *op) override { unary(op->value); }
    void visit(const Reinterpret *op) override { unary(op->value); }
    void visit(const Not *op) override { unary(op->a); }
    void visit(const Broadcast *op) override { unary(op->value); }
    void visit(const VectorReduce *op) override { unary(op->value); }
    void visit(const Add *op) override { binary(op->a, op->b); }
    void visit(const Sub *op) override { binary(op->a, op->b); }
    void visit(const Mul *op) override { binary(op->a, op->b); }
    void visit(const Div *op) override { binary(op->a, op->b); }
    void visit(const Mod *op) override { binary(op->a, op->b); }
    void visit(const Min *op) override { binary(op->a, op->b); }
    void visit(const Max *op) override { binary(op->a, op->b); }
    void visit(const EQ *op) override { binary(op->a, op->b); }
    void visit(const NE *op) override { binary(op->a, op->b); }
    void visit(const LT *op) override { binary(op->a, op->b); }
    void visit(const LE *op) override { binary(op->a, op->b); }
    void visit(const GT *op) override { binary(op->a, op->b); }
    void visit(const GE *op) override { binary(op->a, op->b); }
    void visit(const And *op) override { binary(op->a, op->b); }
    void visit(const Or *op) override { binary(op->a, op->b); }
    void visit(const Ramp *op) override { binary(op->base, op->stride); }
    void visit(const Load *op) override { binary(op->predicate, op->index); }
    void visit(const Let *op) override { binary(op->value, op->body); }

    void visit(const Select *op) override {
        const int condition = add(op->condition);
        const int if_true = add(op->true_value);
        const int if_false = add(op->false_value);
        push(Op::Select, {condition, if_true, if_false});
    }

    void visit(const Call *op) override {
        const auto callee = func_ids_.find(op->name);
        std::vector<int> operands = add_all(op->args);
        if (op->call_type == Call::Halide && callee != func_ids_.end()) {
            push(Op::Call, std::move(operands), callee->second);
        } else {
            push(Op::Nary, std::move(operands));
        }
    }

    void visit(const Shuffle *op) override { push(Op::Nary, add_all(op->vectors)); }

    const std::map<std::string, int> &func_ids_;
    BranchingTree tree_;
    int last_ = -1;
};

}  // namespace

BranchingForm branching_form(const Function &f, const std::map<std::string, int> &func_ids) {
    BranchingForm form;
    for (const Expr &value : f.values()) {
        form.values.push_back(TreeBuilder(func_ids).build(canonical(value)));
    }
    for (const Expr &arg : f.definition().args()) {
        form.args.push_back(TreeBuilder(func_ids).build(canonical(arg)));
    }
    return form;
}

}  // namespace anderson2021
