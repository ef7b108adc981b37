#include "frontend/simplified_bound.h"

#include <optional>
#include <sstream>

#include "frontend/constant_value.h"
#include "support/error.h"

namespace anderson2021 {

using Halide::Expr;

namespace {

// Loops are cut into so many pieces that a search asks for the same values again and again.
constexpr size_t kMaxKnown = size_t{1} << 14;

}  // namespace

// Everything done with it here would treat shared parts as often as they occur.
SimplifiedBound::SimplifiedBound(const Expr &e,
                                 const std::map<std::string, std::pair<int, bool>> &ends)
    : expr_(Halide::Internal::remove_promises(Halide::Internal::remove_likelies(
          Halide::Internal::common_subexpression_elimination(e)))) {
    for (const auto &[name, place] : ends) {
        if (Halide::Internal::expr_uses_var(expr_, name)) {
            ends_.push_back({name, place.first, place.second});
        }
    }
}

int64_t SimplifiedBound::evaluate(const Span *env) const {
    std::vector<int32_t> values;
    values.reserve(ends_.size());
    for (const End &end : ends_) {
        const Span &span = env[end.span];
        values.push_back(static_cast<int32_t>(end.is_max ? span.max : span.min));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = known_.find(values);
    if (known != known_.end()) {
        return known->second;
    }
    const int64_t result = simplify(values);
    if (known_.size() >= kMaxKnown) {
        known_.clear();
    }
    known_.emplace(std::move(values), result);
    return result;
}

int64_t SimplifiedBound::simplify(const std::vector<int32_t> &values) const {
    std::map<std::string, Expr> replacements;
    for (size_t i = 0; i < ends_.size(); i++) {
        replacements[ends_[i].name] = values[i];
    }
    const Expr substituted = Halide::Internal::substitute(replacements, expr_);
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
