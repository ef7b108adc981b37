#include "frontend/access_derivative.h"

#include <optional>

#include "support/error.h"

namespace anderson2021 {

using namespace Halide::Internal;  // NOLINT(google-build-using-namespace): IR node names
using Halide::Expr;

namespace {

Rational scaled(const Rational &r, int64_t factor) {
    return {static_cast<int32_t>(r.n * factor), r.d};
}

Rational divided(const Rational &r, int64_t divisor) {
    return r.n == 0 ? r : Rational{r.n, static_cast<int32_t>(r.d * divisor)};
}

}  // namespace

AccessDifferentiator::AccessDifferentiator(std::vector<std::string> loops)
    : loops_(std::move(loops)) {}

void AccessDifferentiator::push_let(const std::string &name, const Expr &value) {
    lets_.push(name, value);
    for (size_t i = 0; i < loops_.size(); i++) {
        memo_.erase({name, i});
    }
}

void AccessDifferentiator::pop_let(const std::string &name) {
    lets_.pop(name);
    for (size_t i = 0; i < loops_.size(); i++) {
        memo_.erase({name, i});
    }
}

AccessJacobian AccessDifferentiator::jacobian(const std::vector<Expr> &coordinates) {
    std::vector<Rational> entries;
    entries.reserve(coordinates.size() * loops_.size());
    for (const Expr &c : coordinates) {
        for (size_t j = 0; j < loops_.size(); j++) {
            entries.push_back(derive(c, j));
        }
    }
    return AccessJacobian(
        static_cast<int>(coordinates.size()), static_cast<int>(loops_.size()), std::move(entries));
}

Rational AccessDifferentiator::derive(const Expr &e, size_t loop) {
    if (!expr_uses_var(e, loops_[loop], lets_)) {
        return {0, 1};
    }
    if (const Variable *v = e.as<Variable>()) {
        return derive_variable(v->name, loop);
    }
    if (const Add *op = e.as<Add>()) {
        Rational sum = derive(op->a, loop);
        sum += derive(op->b, loop);
        return sum;
    }
    if (const Sub *op = e.as<Sub>()) {
        Rational difference = derive(op->a, loop);
        difference += scaled(derive(op->b, loop), -1);
        return difference;
    }
    if (const Mul *op = e.as<Mul>()) {
        const std::optional<int64_t> factor = as_const_int(op->b);
        return factor ? scaled(derive(op->a, loop), *factor) : Rational::unknown();
    }
    if (const Div *op = e.as<Div>()) {
        const std::optional<int64_t> divisor = as_const_int(op->b);
        return divisor ? divided(derive(op->a, loop), *divisor) : Rational::unknown();
    }
    const Call *call = e.as<Call>();
    if (call != nullptr && call->is_intrinsic({Call::likely, Call::promise_clamped})) {
        return derive(call->args[0], loop);
    }
    return Rational::unknown();
}

Rational AccessDifferentiator::derive_variable(const std::string &name, size_t loop) {
    if (name == loops_[loop]) {
        return {1, 1};
    }
    const Expr *value = lets_.find(name);
    ANDERSON_CHECK(value != nullptr) << "Unknown variable \"" << name << "\" in a coordinate";
    const std::pair<std::string, size_t> key(name, loop);
    const auto known = memo_.find(key);
    if (known != memo_.end()) {
        return known->second;
    }
    const Rational result = derive(*value, loop);
    memo_[key] = result;
    return result;
}

}  // namespace anderson2021
