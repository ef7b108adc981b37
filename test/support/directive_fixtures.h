// Scheduling calls in short.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowering/directive.h"

namespace anderson2021 {
namespace test {

/// A call about loops, of which "x" is the first one of the Func and others are made by calls.
inline Directive
call(Directive::Kind kind, const std::vector<std::string> &vars = {}, int64_t factor = 0) {
    Directive d;
    d.kind = kind;
    d.factor = factor;
    for (const std::string &name : vars) {
        d.vars.push_back({name, false, name == "x" ? 0 : -1});
    }
    return d;
}

}  // namespace test
}  // namespace anderson2021
