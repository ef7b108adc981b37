// Where Funcs are computed, and where else they could be.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/loop_nest.h"
#include "search/rejections.h"

namespace anderson2021 {

/// Where a Func is computed.
struct FuncPlace {
    enum class Kind : uint8_t { Inlined, Root, Block, Thread, Serial };

    Kind kind = Kind::Inlined;
    /// Func in whose loops it is computed; -1 unless the kind is Block, Thread or Serial.
    int inside = -1;

    friend bool operator==(const FuncPlace &a, const FuncPlace &b) {
        return a.kind == b.kind && a.inside == b.inside;
    }
};

/// "inlined", "root", "block", "thread" or "serial".
const char *place_kind_name(FuncPlace::Kind kind);
/// `root` is a complete schedule, or at least places the Func.
FuncPlace place_of(const LoopNest &root, int func);

/// One place of a Func.
struct Alternative {
    FuncPlace place;
    /// Predicted cost of the cheapest complete schedule found with that place, ms.
    double cost = 0;
    bool chosen = false;
};

struct FuncAlternatives {
    int func = -1;
    /// By cost; the chosen place is among them.
    std::vector<Alternative> places;
    /// What was dropped, by rule.
    RejectionTally rejected;
};

}  // namespace anderson2021
