#include "frontend/simplified_bound.h"

#include <optional>
#include <sstream>

#include "frontend/constant_value.h"
#include "support/error.h"

namespace anderson2021 {

using Halide::Expr;

// Everything done with it here would treat shared parts as often as they occur.
SimplifiedBound::SimplifiedBound(const Expr &e, std::map<std::string, std::pair<int, bool>> ends)
    : expr_(Halide::Internal::remove_promises(Halide::Internal::remove_likelies(
          Halide::Internal::common_subexpression_elimination(e)))),
      ends_(std::move(ends)) {}

int64_t SimplifiedBound::evaluate(const Span *env) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::map<std::string, Expr> values;
    for (const auto &end : ends_) {
        const Span &span = env[end.second.first];
        values[end.first] = static_cast<int32_t>(end.second.second ? span.max : span.min);
    }
    const Expr substituted = Halide::Internal::substitute(values, expr_);
    const Expr result = Halide::Internal::simplify(substituted);
    if (const std::optional<int64_t> value = Halide::Internal::as_const_int(result)) {
        return *value;
    }
    if (const std::optional<uint64_t> value = Halide::Internal::as_const_uint(result)) {
        return static_cast<int64_t>(*value);
    }
    const std::optional<int64_t> value = constant_value(substituted);
    ANDERSON_CHECK(value.has_value()) << "Cannot evaluate the bound " << text() << ": " << result;
    return *value;
}

std::string SimplifiedBound::text() const {
    std::ostringstream text;
    text << expr_;
    return text.str();
}

}  // namespace anderson2021
