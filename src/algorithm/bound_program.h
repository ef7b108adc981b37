// Bound expressions as programs of a small stack machine.
//
// The arithmetic is that of the compiler's integer expressions: ends of spans enter truncated to
// 32 bits, every result wraps to its type, division rounds so that the remainder is not negative,
// and x / 0 = x % 0 = 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/bound_expr.h"

namespace anderson2021 {

/// An integer type of at most 64 bits; unsigned ones of at most 32, so that every value fits into
/// an int64_t. Booleans are unsigned with one bit.
struct IntType {
    bool is_signed = true;
    int bits = 32;
};

enum class BoundOp : uint8_t {
    Literal,     // push `value`
    End,         // push the minimum (value = 0) or maximum (value = 1) of span `index`
    LoadLocal,   // push local `index`
    StoreLocal,  // pop into local `index`
    Wrap,        // conversion of the top to `type`
    Not,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
    EQ,
    NE,
    LT,
    LE,
    And,
    Or,
    Select,  // condition, true value, false value
};

struct BoundInstruction {
    BoundOp op = BoundOp::Literal;
    IntType type;
    int index = 0;
    int64_t value = 0;
};

/// Assembles a program in postfix order.
class BoundProgramBuilder {
public:
    void literal(int64_t value);
    /// One end of span `span` of the environment.
    void end(int span, bool uses_max);
    /// Conversion of the value on top of the stack.
    void wrap(IntType type);
    /// An operation on the values on top of the stack, right operand topmost. Arithmetic wraps to
    /// `type`.
    void operation(BoundOp op, IntType type = {});
    /// Pops the value on top of the stack into a new local and returns its number.
    int store_local();
    void load_local(int local);

    /// The finished program. `text` makes its source text, which few ever ask for and which can be
    /// far longer than the program. Throws InternalError unless exactly one value is left on the
    /// stack.
    std::shared_ptr<const BoundProgram> finish(std::function<std::string()> text);

private:
    void emit(const BoundInstruction &instruction, int pops, int pushes);

    std::vector<BoundInstruction> code_;
    int depth_ = 0;
    int max_depth_ = 0;
    int num_locals_ = 0;
};

}  // namespace anderson2021
