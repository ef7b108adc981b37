#include "search/func_place.h"

namespace anderson2021 {

namespace {

FuncPlace::Kind kind_of(const LoopNest &nest) {
    switch (nest.axis) {
    case GpuAxis::Block:
        return FuncPlace::Kind::Block;
    case GpuAxis::Thread:
        return FuncPlace::Kind::Thread;
    default:
        return FuncPlace::Kind::Serial;
    }
}

bool find_nest(const LoopNest &nest, int func, FuncPlace &place) {
    for (const LoopNestPtr &child : nest.children) {
        if (child->func == func && nest.func != func) {
            place = nest.is_root() ? FuncPlace{FuncPlace::Kind::Root, -1}
                                   : FuncPlace{kind_of(nest), nest.func};
            return true;
        }
        if (child->computes(func) && find_nest(*child, func, place)) {
            return true;
        }
    }
    return false;
}

}  // namespace

const char *place_kind_name(FuncPlace::Kind kind) {
    switch (kind) {
    case FuncPlace::Kind::Inlined:
        return "inlined";
    case FuncPlace::Kind::Root:
        return "root";
    case FuncPlace::Kind::Block:
        return "block";
    case FuncPlace::Kind::Thread:
        return "thread";
    case FuncPlace::Kind::Serial:
        return "serial";
    }
    return "";
}

FuncPlace place_of(const LoopNest &root, int func) {
    FuncPlace place;
    find_nest(root, func, place);
    return place;
}

}  // namespace anderson2021
