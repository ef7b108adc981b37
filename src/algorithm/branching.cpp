#include "algorithm/branching.h"

#include <algorithm>

#include "support/error.h"

namespace anderson2021 {

namespace {

// Two operands that need equally many values cost one more: the first result waits for the second.
int combine(int a, int b) {
    return a == b ? a + 1 : std::max(a, b);
}

// Adds one operand of an n-ary node to the running number of its predecessors.
int append(int so_far, int operand) {
    return operand == 0 ? so_far : combine(so_far, operand);
}

class BranchingEvaluator {
public:
    BranchingEvaluator(const std::vector<BranchingForm> &forms,
                       const std::function<bool(int)> &inlined)
        : forms_(forms), inlined_(inlined), of_func_(forms.size(), kUnknown) {}

    int of_func(int func) {
        int &memo = of_func_[static_cast<size_t>(func)];
        ANDERSON_CHECK(memo != kInProgress) << "A Func calls itself in its pure definition";
        if (memo == kUnknown) {
            memo = kInProgress;
            const BranchingForm &form = forms_[static_cast<size_t>(func)];
            const int result = std::max(of_list(form.values), of_list(form.args));
            of_func_[static_cast<size_t>(func)] = result;
            return result;
        }
        return memo;
    }

private:
    static constexpr int kUnknown = -1;
    static constexpr int kInProgress = -2;

    int of_list(const std::vector<BranchingTree> &trees) {
        int result = 0;
        for (const BranchingTree &t : trees) {
            result = append(result, of_tree(t));
        }
        return result;
    }

    int of_tree(const BranchingTree &tree) {
        std::vector<int> values(tree.nodes.size());
        for (size_t i = 0; i < tree.nodes.size(); i++) {
            values[i] = of_node(tree.nodes[i], values);
        }
        return tree.root < 0 ? 0 : values[static_cast<size_t>(tree.root)];
    }

    int of_node(const BranchingTree::Node &node, const std::vector<int> &values) {
        const auto operand = [&](size_t i) {
            return values[static_cast<size_t>(node.operands[i])];
        };
        switch (node.op) {
        case BranchingTree::Op::Leaf:
            return 1;
        case BranchingTree::Op::Same:
            return operand(0);
        case BranchingTree::Op::Binary:
            return combine(operand(0), operand(1));
        case BranchingTree::Op::Select:
            return std::max(combine(operand(0), operand(1)), combine(operand(0), operand(2)));
        case BranchingTree::Op::Call:
            if (inlined_(node.func)) {
                return of_func(node.func);
            }
            return of_operands(node, values);
        case BranchingTree::Op::Nary:
            return of_operands(node, values);
        case BranchingTree::Op::Absent:
            return 0;
        }
        return 0;
    }

    static int of_operands(const BranchingTree::Node &node, const std::vector<int> &values) {
        int result = 0;
        for (const int i : node.operands) {
            result = append(result, values[static_cast<size_t>(i)]);
        }
        return result;
    }

    const std::vector<BranchingForm> &forms_;
    const std::function<bool(int)> &inlined_;
    std::vector<int> of_func_;  // memo, per Func id
};

}  // namespace

int expression_branching(const std::vector<BranchingForm> &forms,
                         int func,
                         const std::function<bool(int)> &inlined) {
    return BranchingEvaluator(forms, inlined).of_func(func);
}

}  // namespace anderson2021
