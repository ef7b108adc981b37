// 128-bit fingerprints, for telling things apart whose equality cannot be checked any more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "support/hash.h"

namespace anderson2021 {

/// The order of calls matters, and every value counts.
class Fingerprint {
public:
    void add(uint64_t value) {
        hash_combine(a_, value);
        hash_combine(b_, value ^ 0x5bd1e9955bd1e995ull);
    }
    void add(const std::string &text) {
        add(text.size());
        for (const char c : text) {
            add(static_cast<uint64_t>(static_cast<unsigned char>(c)));
        }
    }
    /// 32 hexadecimal digits.
    std::string text() const {
        char buffer[40];
        std::snprintf(buffer,
                      sizeof(buffer),
                      "%016llx%016llx",
                      static_cast<unsigned long long>(a_),
                      static_cast<unsigned long long>(b_));
        return buffer;
    }

private:
    uint64_t a_ = 1, b_ = 2;
};

}  // namespace anderson2021
