#include "algorithm/bound_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/error.h"

namespace anderson2021 {

namespace {

// `index` of a binary operation whose right operand is its `value` instead of the topmost one.
constexpr int kLiteralOperand = 1;

// Programs of up to this size (stack plus locals) run without allocating.
constexpr size_t kInlineSlots = 48;

int64_t wrap_to(int64_t value, IntType type) {
    if (type.bits == 32 && type.is_signed) {
        return static_cast<int32_t>(value);  // nearly always
    }
    if (type.bits >= 64) {
        return value;
    }
    const uint64_t mask = (uint64_t{1} << type.bits) - 1;
    const uint64_t low = static_cast<uint64_t>(value) & mask;
    const uint64_t sign = uint64_t{1} << (type.bits - 1);
    if (type.is_signed && (low & sign) != 0) {
        return static_cast<int64_t>(low | ~mask);
    }
    return static_cast<int64_t>(low);
}

// Sums and products in unsigned arithmetic, where overflow is defined.
int64_t add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t subtract(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

int64_t multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t modulo(int64_t a, int64_t b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int64_t r = a % b;
    return r < 0 ? (b < 0 ? r - b : r + b) : r;
}

int64_t divide(int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return subtract(0, a);
    }
    const int64_t q = a / b;
    return a % b < 0 ? (b < 0 ? q + 1 : q - 1) : q;
}

int64_t binary(BoundOp op, int64_t a, int64_t b) {
    switch (op) {
    case BoundOp::Add:
        return add(a, b);
    case BoundOp::Sub:
        return subtract(a, b);
    case BoundOp::Mul:
        return multiply(a, b);
    case BoundOp::Div:
        return divide(a, b);
    case BoundOp::Mod:
        return modulo(a, b);
    case BoundOp::Min:
        return std::min(a, b);
    case BoundOp::Max:
        return std::max(a, b);
    case BoundOp::EQ:
        return a == b ? 1 : 0;
    case BoundOp::NE:
        return a != b ? 1 : 0;
    case BoundOp::LT:
        return a < b ? 1 : 0;
    case BoundOp::LE:
        return a <= b ? 1 : 0;
    case BoundOp::And:
        return a != 0 && b != 0 ? 1 : 0;
    case BoundOp::Or:
        return a != 0 || b != 0 ? 1 : 0;
    default:
        return 0;
    }
}

int num_operands(BoundOp op) {
    switch (op) {
    case BoundOp::Literal:
    case BoundOp::End:
    case BoundOp::LoadLocal:
        return 0;
    case BoundOp::StoreLocal:
    case BoundOp::Wrap:
    case BoundOp::Not:
        return 1;
    case BoundOp::Select:
        return 3;
    default:
        return 2;
    }
}

// Only these can leave the range of their type.
bool may_overflow(BoundOp op) {
    return op == BoundOp::Add || op == BoundOp::Sub || op == BoundOp::Mul || op == BoundOp::Div;
}

class StackProgram : public BoundProgram {
public:
    StackProgram(std::vector<BoundInstruction> code,
                 int num_locals,
                 int depth,
                 std::function<std::string()> text)
        : code_(std::move(code)), num_locals_(static_cast<size_t>(num_locals)),
          num_slots_(num_locals_ + static_cast<size_t>(depth)), text_(std::move(text)) {}

    int64_t evaluate(const Span *env) const override {
        if (num_slots_ <= kInlineSlots) {
            std::array<int64_t, kInlineSlots> slots;
            return run(env, slots.data());
        }
        std::vector<int64_t> slots(num_slots_);
        return run(env, slots.data());
    }

    std::string text() const override { return text_(); }

private:
    int64_t run(const Span *env, int64_t *locals) const {
        int64_t *top = locals + num_locals_;  // one past the topmost value
        for (const BoundInstruction &i : code_) {
            step(i, env, locals, top);
        }
        return top[-1];
    }

    static void step(const BoundInstruction &i, const Span *env, int64_t *locals, int64_t *&top) {
        switch (i.op) {
        case BoundOp::Literal:
            *top++ = i.value;
            return;
        case BoundOp::End:
            *top++ = static_cast<int32_t>(i.value != 0 ? env[i.index].max : env[i.index].min);
            return;
        case BoundOp::LoadLocal:
            *top++ = locals[i.index];
            return;
        case BoundOp::StoreLocal:
            locals[i.index] = *--top;
            return;
        case BoundOp::Wrap:
            top[-1] = wrap_to(top[-1], i.type);
            return;
        case BoundOp::Not:
            top[-1] = top[-1] == 0 ? 1 : 0;
            return;
        case BoundOp::Select:
            top -= 2;
            top[-1] = top[-1] != 0 ? top[0] : top[1];
            return;
        default:
            if (i.index != kLiteralOperand) {
                top--;
            }
            top[-1] = binary(i.op, top[-1], i.index == kLiteralOperand ? i.value : top[0]);
            if (may_overflow(i.op)) {
                top[-1] = wrap_to(top[-1], i.type);
            }
        }
    }

    std::vector<BoundInstruction> code_;
    size_t num_locals_;
    size_t num_slots_;
    std::function<std::string()> text_;
};

}  // namespace

void BoundProgramBuilder::emit(const BoundInstruction &instruction, int pops, int pushes) {
    ANDERSON_CHECK(depth_ >= pops) << "Operands are missing in a bound program";
    code_.push_back(instruction);
    depth_ += pushes - pops;
    max_depth_ = std::max(max_depth_, depth_);
}

void BoundProgramBuilder::literal(int64_t value) {
    emit({BoundOp::Literal, {}, 0, value}, 0, 1);
}

void BoundProgramBuilder::end(int span, bool uses_max) {
    emit({BoundOp::End, {}, span, uses_max ? 1 : 0}, 0, 1);
}

void BoundProgramBuilder::wrap(IntType type) {
    emit({BoundOp::Wrap, type, 0, 0}, 1, 1);
}

void BoundProgramBuilder::operation(BoundOp op, IntType type) {
    if (num_operands(op) == 2 && depth_ >= 2 && code_.back().op == BoundOp::Literal) {
        code_.back() = {op, type, kLiteralOperand, code_.back().value};
        depth_--;
        return;
    }
    emit({op, type, 0, 0}, num_operands(op), 1);
}

int BoundProgramBuilder::store_local() {
    emit({BoundOp::StoreLocal, {}, num_locals_, 0}, 1, 0);
    return num_locals_++;
}

void BoundProgramBuilder::load_local(int local) {
    emit({BoundOp::LoadLocal, {}, local, 0}, 0, 1);
}

std::shared_ptr<const BoundProgram> BoundProgramBuilder::finish(std::function<std::string()> text) {
    ANDERSON_CHECK(depth_ == 1) << "A bound program leaves " << depth_ << " values";
    return std::make_shared<StackProgram>(
        std::move(code_), num_locals_, max_depth_, std::move(text));
}

}  // namespace anderson2021
