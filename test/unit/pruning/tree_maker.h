// Small schedule trees for the tests of the rules, with tilings that the search would not choose.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph_fixtures.h"
#include "pruning/pruner.h"
#include "schedule/loop_nest_editor.h"

namespace anderson2021 {
namespace test {

using Extents = std::vector<int64_t>;

class TreeMaker {
public:
    explicit TreeMaker(PipelineGraph graph)
        : graph_(std::move(graph)), store_(graph_), editor_(store_), root_(editor_.make_root()) {}

    const PipelineGraph &graph() const { return graph_; }
    const LoopNestEditor &editor() const { return editor_; }
    int func(const std::string &name) const { return graph_.find_func(name); }

    /// Root nest of a single-stage Func: blocks / `threads` / `serial` points / leaf. Extents per
    /// dimension of the Func.
    LoopNestPtr
    tiled(const std::string &name, const Extents &threads, const Extents &serial) const {
        const std::vector<LoopNestPtr> nests = editor_.place(func(name), 0, *root_, false);
        const LoopNestPtr outer =
            editor_.split(*nests.front(), serial, *root_, {TileIs::Inner, false, true});
        return editor_.split(*outer, threads, *root_, {TileIs::Inner, false, true});
    }

    LoopNestPtr root_of(std::vector<LoopNestPtr> tasks) const {
        return editor_.with_children(*root_, std::move(tasks));
    }

    /// `site` with the stages of a Func appended as placed there.
    LoopNestPtr
    with_placed(const LoopNestPtr &site, const std::string &name, bool in_thread) const {
        std::vector<LoopNestPtr> children = site->children;
        for (const LoopNestPtr &nest : editor_.place(func(name), 0, *site, in_thread)) {
            children.push_back(nest);
        }
        return editor_.with_children(*site, std::move(children));
    }

    /// Block nest with its Thread level replaced.
    LoopNestPtr with_thread_level(const LoopNestPtr &block, LoopNestPtr thread) const {
        std::vector<LoopNestPtr> children = block->children;
        children.front() = std::move(thread);
        return editor_.with_children(*block, std::move(children));
    }

private:
    const PipelineGraph graph_;
    mutable RegionStore store_;
    LoopNestEditor editor_;
    LoopNestPtr root_;
};

/// The rule of that name.
inline const StructuralPruner &structural_rule(const std::string &name) {
    for (const auto &rule : structural_pruners()) {
        if (rule->name() == name) {
            return *rule;
        }
    }
    throw std::out_of_range(name);
}

}  // namespace test
}  // namespace anderson2021
