#include <gtest/gtest.h>

#include "algorithm/branching.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using Op = BranchingTree::Op;

// Trees in prefix form, turned into post-order.
class Tree {
public:
    int leaf() { return push(Op::Leaf, {}); }
    int absent() { return push(Op::Absent, {}); }
    int same(int a) { return push(Op::Same, {a}); }
    int binary(int a, int b) { return push(Op::Binary, {a, b}); }
    int select(int c, int t, int f) { return push(Op::Select, {c, t, f}); }
    int nary(const std::vector<int> &operands) { return push(Op::Nary, operands); }
    int call(int func, const std::vector<int> &operands) { return push(Op::Call, operands, func); }
    BranchingTree finish() {
        tree_.root = static_cast<int>(tree_.nodes.size()) - 1;
        return tree_;
    }

private:
    int push(Op op, const std::vector<int> &operands, int func = -1) {
        BranchingTree::Node n;
        n.op = op;
        n.func = func;
        n.operands = operands;
        tree_.nodes.push_back(n);
        return static_cast<int>(tree_.nodes.size()) - 1;
    }
    BranchingTree tree_;
};

bool none(int) {
    return false;
}
bool all(int) {
    return true;
}

int value_of(Tree &tree) {
    return expression_branching({BranchingForm{{tree.finish()}, {}}}, 0, none);
}

// An n-ary list of one operand has the operand's number.
TEST(ExpressionBranching, ChainNeedsTwoValues) {
    Tree t;
    int e = t.leaf();
    for (int i = 0; i < 10; i++) {
        e = t.binary(e, t.leaf());
    }
    EXPECT_EQ(value_of(t), 2);
}

TEST(ExpressionBranching, BalancedTreeNeedsOneMorePerLevel) {
    Tree t;
    const auto pair = [&] {
        const int a = t.leaf();
        return t.binary(a, t.leaf());
    };
    const auto four = [&] {
        const int a = pair();
        return t.binary(a, pair());
    };
    const int a = four();
    t.binary(a, four());
    EXPECT_EQ(value_of(t), 4);
}

TEST(ExpressionBranching, UnaryOperationsAreFree) {
    Tree t;
    const int a = t.same(t.leaf());
    t.same(t.binary(a, t.same(t.leaf())));
    EXPECT_EQ(value_of(t), 2);
}

TEST(ExpressionBranching, SelectTakesTheWorseBranch) {
    Tree t;
    const int c = t.leaf();
    const int pair = t.binary(t.leaf(), t.leaf());  // 2
    t.select(c, t.leaf(), pair);                    // max(bin(1, 1), bin(1, 2))
    EXPECT_EQ(value_of(t), 2);
    Tree u;
    const int condition = u.binary(u.leaf(), u.leaf());
    const int worse = u.binary(u.leaf(), u.leaf());
    u.select(condition, worse, u.leaf());
    EXPECT_EQ(value_of(u), 3);
    Tree v;
    const int equal = v.binary(v.leaf(), v.leaf());
    v.select(equal, v.leaf(), v.binary(v.leaf(), v.leaf()));  // max(bin(2, 1), bin(2, 2))
    EXPECT_EQ(value_of(v), 3);
}

TEST(ExpressionBranching, CallsAccumulateOverArguments) {
    Tree t;
    const int a = t.leaf();
    const int b = t.leaf();
    const int c = t.leaf();
    t.nary({a, b, c});  // 1, then 2, then max(2, 1)
    EXPECT_EQ(value_of(t), 2);
    Tree without;
    const int call = without.nary({});
    without.binary(call, without.leaf());
    EXPECT_EQ(value_of(without), 1);
}

TEST(ExpressionBranching, AbsentOperandsDoNotCount) {
    Tree t;
    const int a = t.absent();
    const int b = t.leaf();
    t.nary({a, b});
    EXPECT_EQ(value_of(t), 1);
}

TEST(ExpressionBranching, ValuesAndArgumentsCountSeparately) {
    const auto leaf = [] {
        Tree t;
        t.leaf();
        return t.finish();
    };
    const BranchingForm two_values{{leaf(), leaf()}, {leaf()}};
    EXPECT_EQ(expression_branching({two_values}, 0, none), 2);
    const BranchingForm two_args{{leaf()}, {leaf(), leaf()}};
    EXPECT_EQ(expression_branching({two_args}, 0, none), 2);
    EXPECT_EQ(expression_branching({BranchingForm{}}, 0, none), 0);
}

// Func 0 reads Func 1 twice; Func 1 is a balanced tree of four leaves.
TEST(ExpressionBranching, InlinedFuncsReplaceTheirCalls) {
    Tree consumer;
    const int x = consumer.leaf();
    const int call = consumer.call(1, {x});
    const int again = consumer.call(1, {consumer.leaf()});
    consumer.binary(call, again);
    Tree producer;
    const int pair = producer.binary(producer.leaf(), producer.leaf());
    producer.binary(pair, producer.binary(producer.leaf(), producer.leaf()));
    const std::vector<BranchingForm> forms = {{{consumer.finish()}, {}}, {{producer.finish()}, {}}};
    EXPECT_EQ(expression_branching(forms, 0, none), 2);
    EXPECT_EQ(expression_branching(forms, 0, all), 4);
    EXPECT_EQ(expression_branching(forms, 1, none), 3);
}

// 2^60 paths lead from the first Func to the last.
TEST(ExpressionBranching, EvaluatesEveryInlinedFuncOnce) {
    constexpr int kFuncs = 60;
    std::vector<BranchingForm> forms;
    for (int i = 0; i < kFuncs; i++) {
        Tree t;
        if (i + 1 < kFuncs) {
            const int a = t.call(i + 1, {});
            t.binary(a, t.call(i + 1, {}));
        } else {
            t.leaf();
        }
        forms.push_back({{t.finish()}, {}});
    }
    EXPECT_EQ(expression_branching(forms, 0, all), kFuncs);
}

TEST(ExpressionBranching, RefusesCycles) {
    Tree t;
    t.call(0, {});
    EXPECT_THROW(expression_branching({BranchingForm{{t.finish()}, {}}}, 0, all), InternalError);
}

}  // namespace
}  // namespace anderson2021
