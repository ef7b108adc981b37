// Integer expressions over the ends of loop spans, compiled once so that a bounds query never has
// to touch the compiler's expression trees.
//
// The environment of an evaluation is an array of Spans: the loops of the consumer stage (for the
// footprint of an edge), the required region (for a region computed) or the region computed (for
// a loop span). A leaf refers to one end of one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/span.h"

namespace anderson2021 {

/// A compiled expression that is not affine in one end. Immutable, callable from any thread.
class BoundProgram {
public:
    virtual ~BoundProgram() = default;
    /// Value at the given spans. Operands are truncated to 32 bits, division and modulo round so
    /// that the remainder is not negative, and x/0 = x%0 = 0, as in Halide.
    virtual int64_t evaluate(const Span *env) const = 0;
    /// Source text, for dumps.
    virtual std::string text() const = 0;
};

/// One side of a bound: constant, `coeff * end + add`, or a program.
struct BoundExpr {
    enum class Kind { Constant, Affine, Program };

    Kind kind = Kind::Constant;
    /// Affine: index of the span in the environment and which end of it.
    int span = 0;
    bool uses_max = false;
    int64_t coeff = 0;
    /// The value of a Constant, the addend of an Affine.
    int64_t add = 0;
    /// The formula does not involve any estimate of a parameter.
    bool exact = true;
    std::shared_ptr<const BoundProgram> program;

    bool is_affine() const { return kind != Kind::Program; }

    int64_t evaluate(const Span *env) const {
        switch (kind) {
        case Kind::Constant:
            return add;
        case Kind::Affine:
            return coeff * (uses_max ? env[span].max : env[span].min) + add;
        case Kind::Program:
            return program->evaluate(env);
        }
        return 0;
    }

    static BoundExpr constant(int64_t value) {
        BoundExpr e;
        e.add = value;
        return e;
    }
    static BoundExpr affine(int span, bool uses_max, int64_t coeff, int64_t add) {
        BoundExpr e;
        e.kind = Kind::Affine;
        e.span = span;
        e.uses_max = uses_max;
        e.coeff = coeff;
        e.add = add;
        return e;
    }
};

}  // namespace anderson2021
