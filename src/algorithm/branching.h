// How many live values an expression needs (a Sethi-Ullman number), as a function of the Funcs
// that are inlined into it. The trees are distilled from Halide's once; evaluation is pure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace anderson2021 {

/// Distilled expression. Nodes in post-order: operands come before their user.
struct BranchingTree {
    enum class Op : uint8_t {
        Leaf,    // immediate, variable, string: 1
        Same,    // cast, not, broadcast, ...: value of the single operand
        Binary,  // arithmetic, comparison, let, load, ramp
        Select,  // condition, true value, false value
        Call,    // Func call: the Func's own number if inlined, else like Nary
        Nary,    // other calls and shuffles
        Absent,  // undefined expression: 0
    };
    struct Node {
        Op op = Op::Leaf;
        /// Call: id of the called Func.
        int func = -1;
        /// Indices of the operands in `nodes`.
        std::vector<int> operands;
    };
    std::vector<Node> nodes;
    int root = -1;
};

/// Pure definition of a Func, canonicalised: values and arguments.
struct BranchingForm {
    std::vector<BranchingTree> values;
    std::vector<BranchingTree> args;
};

/// B(f) of every Func given which Funcs are inlined: the larger of the n-ary numbers of the values
/// and of the arguments of its pure definition. Compat: updates are ignored.
///
/// @param forms  per Func id
/// @param func   the Func asked about
/// @param inlined whether a Func id counts as inlined
int expression_branching(const std::vector<BranchingForm> &forms,
                         int func,
                         const std::function<bool(int)> &inlined);

}  // namespace anderson2021
