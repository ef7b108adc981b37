// The options of a run, generated from options.def.
#pragma once

#include <cstdint>
#include <string>

namespace anderson2021 {

struct Options {
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    type name = default_value;
#include "support/options.def"
#undef ANDERSON_OPTION

    // search_space_options, decoded.
    bool allow_compute_root() const {
        return has_move(0) || has_move(2) || has_move(3);
    }
    bool allow_inline() const {
        return has_move(1);
    }
    bool allow_compute_at_block() const {
        return has_move(2);
    }
    bool allow_compute_at_thread() const {
        return has_move(3);
    }

private:
    // Character i from the right of the first four.
    bool has_move(size_t i) const {
        const std::string s = search_space_options.substr(0, 4);
        return i < s.size() && s[s.size() - 1 - i] == '1';
    }
};

}  // namespace anderson2021
