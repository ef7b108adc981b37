#include "search/choice_text.h"

#include <map>
#include <utility>
#include <vector>

#include "search/func_place.h"

namespace anderson2021 {

namespace {

// Levels of the stages, outermost first, by Func and stage.
using Levels = std::map<std::pair<int, int>, std::string>;

std::string size_text(const Extents &size) {
    std::string text;
    for (const int64_t extent : size) {
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    }
    return text.empty() ? "1" : text;
}

// All points of the leaf are the same one, and a level that is not mapped yet is everything.
void collect(const LoopNest &nest, Levels &levels) {
    if (!nest.is_root() && !nest.innermost && nest.axis != GpuAxis::None) {
        std::string &text = levels[{nest.func, nest.stage_index}];
        text += (text.empty() ? "" : ", ") + std::string(gpu_axis_name(nest.axis)) + " " +
                size_text(nest.size);
    }
    for (const LoopNestPtr &child : nest.children) {
        collect(*child, levels);
    }
}

std::string place_text(const FuncPlace &place, const PipelineGraph &graph) {
    switch (place.kind) {
    case FuncPlace::Kind::Inlined:
        return "inlined";
    case FuncPlace::Kind::Root:
        return "at the root";
    case FuncPlace::Kind::Block:
        return "in the blocks of " + graph.func(place.inside).name;
    case FuncPlace::Kind::Thread:
        return "in the threads of " + graph.func(place.inside).name;
    case FuncPlace::Kind::Serial:
        break;
    }
    return "in the serial loops of " + graph.func(place.inside).name;
}

int vector_dim_of(const LoopNest &nest, int func) {
    for (const LoopNestPtr &child : nest.children) {
        const int dim = child->func == func ? child->vector_dim : vector_dim_of(*child, func);
        if (dim >= 0) {
            return dim;
        }
    }
    return -1;
}

// "block 8x8, thread 16x4; update 1 block 8x8, ..."
std::string levels_text(const Levels &levels, int func) {
    std::string text;
    for (const auto &level : levels) {
        if (level.first.first == func) {
            text += text.empty() ? "" : "; ";
            if (level.first.second > 0) {
                text += "update " + std::to_string(level.first.second) + " ";
            }
            text += level.second;
        }
    }
    return text;
}

}  // namespace

std::string describe_placement(const LoopNest &parent,
                               const LoopNest &tree,
                               int func,
                               const PipelineGraph &graph) {
    std::string text = place_text(place_of(tree, func), graph);
    const int vector_dim = vector_dim_of(tree, func);
    if (vector_dim > 0) {
        text += ", dimension " + std::to_string(vector_dim) + " innermost";
    }
    Levels before, after;
    collect(parent, before);
    collect(tree, after);
    const std::string own = levels_text(after, func);
    if (!own.empty()) {
        text += ": " + own;
    }
    Levels changed;
    for (const auto &level : after) {
        const auto old = before.find(level.first);
        if (level.first.first != func && old != before.end() && old->second != level.second) {
            changed.insert(level);
        }
    }
    for (int other = 0; other < graph.num_funcs(); other++) {
        const std::string split = levels_text(changed, other);
        if (!split.empty()) {
            text += "; " + graph.func(other).name + " becomes " + split;
        }
    }
    return text;
}

std::string describe_tiling(const std::vector<LoopNestPtr> &nests) {
    Levels levels;
    int func = -1;
    for (const LoopNestPtr &nest : nests) {
        collect(*nest, levels);
        func = nest->func;
    }
    return levels_text(levels, func);
}

}  // namespace anderson2021
