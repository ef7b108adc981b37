// Bound expressions from text, as test vectors contain them.
#pragma once

#include <map>
#include <string>

#include "algorithm/bound_expr.h"

namespace anderson2021 {
namespace test {

/// What a variable of an expression stands for.
struct SpanEnd {
    int span = 0;
    bool is_max = false;
};

/// Compiles `text`: integers, variables, + - * / %, min(a, b), max(a, b), parentheses. Throws
/// UserError naming the position if the text is malformed or a variable is unknown.
BoundExpr parse_bound(const std::string &text, const std::map<std::string, SpanEnd> &variables);

}  // namespace test
}  // namespace anderson2021
