#include "frontend/load_bounds.h"

#include <string>

namespace anderson2021 {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;

namespace {

// What the compiler, too, takes for the range of a value it knows nothing about.
Interval range_of(const Halide::Type &type) {
    const bool is_small = type.bits() <= 16 && (type.is_int() || type.is_uint());
    return is_small ? Interval(type.min(), type.max()) : Interval::everything();
}

// Replaces every value that is read by a variable of its own.
class LoadReplacement : public IRGraphMutator {
public:
    // Of those variables.
    const Scope<Interval> &ranges() const { return ranges_; }

private:
    using IRGraphMutator::visit;

    Expr visit(const Call *op) override {
        if (op->call_type != Call::Halide && op->call_type != Call::Image) {
            return IRGraphMutator::visit(op);
        }
        const std::string name = "load." + std::to_string(count_++);
        ranges_.push(name, range_of(op->type));
        return Variable::make(op->type, name);
    }

    Scope<Interval> ranges_;
    int count_ = 0;
};

// One end of the range that the expression may have.
Expr end_of(const Expr &e, bool max) {
    // What stands for an infinite end is left as it is, too.
    LoadReplacement replacement;
    const Expr replaced = replacement.mutate(e);
    if (replaced.same_as(e)) {
        return e;
    }
    const Interval range = bounds_of_expr_in_scope(replaced, replacement.ranges());
    return max ? range.max : range.min;
}

}  // namespace

Interval without_loads(const Interval &interval) {
    return Interval(end_of(interval.min, false), end_of(interval.max, true));
}

}  // namespace anderson2021
