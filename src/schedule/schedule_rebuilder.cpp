#include "schedule/schedule_rebuilder.h"

#include <algorithm>
#include <set>

#include "support/error.h"

namespace anderson2021 {

namespace {

std::string sizes_text(const Extents &sizes) {
    std::string text;
    for (const int64_t s : sizes) {
        text += (text.empty() ? "" : " ") + std::to_string(s);
    }
    return "(" + text + ")";
}

class Rebuilder {
public:
    Rebuilder(const ParsedSchedule &schedule, const LoopNestEditor &editor)
        : schedule_(schedule), editor_(editor), graph_(editor.graph()) {}

    LoopNestPtr rebuild() {
        const LoopNestPtr empty = editor_.make_root();
        std::vector<const ParsedNest *> fused;
        for (auto n = schedule_.nests.rbegin(); n != schedule_.nests.rend(); ++n) {
            fused.push_back(&*n);
        }
        LoopNestPtr root =
            editor_.with_children(*empty, place_all(*empty, fused, /*in_thread=*/false, 0));
        for (const FuncNode &f : graph_.funcs) {
            const auto parsed = schedule_.funcs.find(f.name);
            if (parsed != schedule_.funcs.end() && parsed->second.inlined) {
                root = inline_func(root, f);
            }
        }
        check_realized(schedule_.realized, *root);
        check_children(schedule_.nests, *root);
        return root;
    }

    void check_complete() const {
        for (const FuncNode &f : graph_.funcs) {
            if (!f.is_input && schedule_.funcs.count(f.name) == 0) {
                throw UserError(schedule_.source + ": Func " + f.name +
                                " is neither placed nor inlined");
            }
        }
    }

private:
    [[noreturn]] void fail(int line, const std::string &reason) const {
        throw UserError(schedule_.source + ":" + std::to_string(line) + ": " + reason);
    }

    LoopNestPtr inline_func(const LoopNestPtr &root, const FuncNode &f) const {
        if (f.is_output || f.is_input || f.num_stages() != 1) {
            throw UserError(schedule_.source + ": Func " + f.name + " cannot be inlined");
        }
        return editor_.inline_func(root, f.id);
    }

    /// Nests of all Funcs that stand directly below `site`, in order of placement.
    std::vector<LoopNestPtr> place_all(const LoopNest &site,
                                       const std::vector<const ParsedNest *> &fused,
                                       bool in_thread,
                                       int indent) {
        std::vector<LoopNestPtr> result;
        for (size_t first = 0; first < fused.size();) {
            const FuncNode &f = check_placement(*fused[first], site);
            const size_t num_stages = static_cast<size_t>(f.num_stages());
            const std::vector<LoopNestPtr> nests =
                editor_.place(f.id, fused[first]->vector_dim, site, in_thread);
            for (size_t i = 0; i < num_stages; i++) {
                if (first + i == fused.size() || fused[first + i]->func != f.name) {
                    fail(fused[first]->line,
                         "Func " + f.name + " needs one level here for each of its " +
                             std::to_string(num_stages) + " stages, last stage at the bottom");
                }
                const ParsedNest &parsed = *fused[first + i];
                if (parsed.indent != indent) {
                    fail(parsed.line, "the enclosing level is missing");
                }
                if (parsed.vector_dim != fused[first]->vector_dim) {
                    fail(parsed.line, "stages of one Func with different vector dimensions");
                }
                const LoopNestPtr shaped = shape(nests[i], parsed, site, in_thread);
                result.push_back(fill(*shaped, parsed, in_thread));
            }
            first += num_stages;
        }
        return result;
    }

    const FuncNode &check_placement(const ParsedNest &parsed, const LoopNest &site) {
        const int id = graph_.find_func(parsed.func);
        if (id < 0 || graph_.func(id).is_input) {
            fail(parsed.line, "the pipeline has no Func " + parsed.func + " to be scheduled");
        }
        const FuncNode &f = graph_.func(id);
        if (!placed_.insert(id).second) {
            fail(parsed.line, "Func " + f.name + " is placed twice");
        }
        if (!site.is_root() && !graph_.stage(site.stage_id).upstream.contains(id)) {
            fail(parsed.line, "nothing here needs Func " + f.name);
        }
        if (f.outgoing_edges.empty() && !f.is_output) {
            fail(parsed.line, "nothing needs Func " + f.name);
        }
        if (parsed.vector_dim < 0 || parsed.vector_dim >= std::max(f.dims(), 1)) {
            fail(parsed.line, "Func " + f.name + " has no such vector dimension");
        }
        return f;
    }

    /// Levels of one stage from the outermost to the leaf.
    std::vector<const ParsedNest *> levels_of(const ParsedNest &outermost) const {
        std::vector<const ParsedNest *> levels{&outermost};
        while (!levels.back()->innermost) {
            const ParsedNest &nest = *levels.back();
            if (nest.children.empty() || nest.children.back().func != nest.func) {
                fail(nest.line, "the next level of Func " + nest.func + " should come last here");
            }
            levels.push_back(&nest.children.back());
        }
        return levels;
    }

    /// Splits a freshly placed nest into the levels that the text shows.
    LoopNestPtr shape(const LoopNestPtr &placed,
                      const ParsedNest &parsed,
                      const LoopNest &site,
                      bool in_thread) const {
        const std::vector<const ParsedNest *> levels = levels_of(parsed);
        std::vector<GpuAxis> axes;
        for (const ParsedNest *level : levels) {
            axes.push_back(level->axis);
            if (level->size.size() != placed->size.size() ||
                level->lane_loop != placed->lane_loop) {
                fail(level->line, "loops or lane loop are not those of Func " + parsed.func);
            }
        }
        const StageNode &stage = graph_.stage(placed->stage_id);
        using A = GpuAxis;
        LoopNestPtr nest = placed;
        if (site.is_root() && axes == std::vector<A>{A::Block, A::Thread, A::Serial, A::Simd}) {
            const SplitOptions inner;
            const LoopNestPtr tiles = editor_.split(*placed, tile(stage, *levels[2]), site, inner);
            nest = editor_.split(*tiles, tile(stage, *levels[1]), site, inner);
        } else if (!site.is_root() && !in_thread &&
                   axes == std::vector<A>{A::Thread, A::Serial, A::Simd}) {
            SplitOptions outer;
            outer.tile_is = TileIs::Outer;
            nest = editor_.split(*placed, tile(stage, *levels[0]), site, outer);
        } else if (!site.is_root() && axes == std::vector<A>{A::Serial, A::Simd}) {
            nest = editor_.with_axis(*placed, A::Serial);
        } else if (!(site.is_root() && axes == std::vector<A>{A::None, A::Simd})) {
            fail(parsed.line, "Func " + parsed.func + " cannot have these levels here");
        }
        const LoopNest *level = nest.get();
        for (const ParsedNest *expected : levels) {
            if (level->size != expected->size) {
                fail(expected->line,
                     "sizes " + sizes_text(expected->size) + " instead of " +
                         sizes_text(level->size));
            }
            level = level->children.empty() ? nullptr : level->children[0].get();
        }
        return nest;
    }

    /// Sizes of a level of `stage` by dimension of the Func.
    Extents tile(const StageNode &stage, const ParsedNest &level) const {
        Extents result(static_cast<size_t>(graph_.func(stage.func).dims()), 1);
        for (size_t i = 0; i < level.size.size(); i++) {
            if (stage.loops[i].pure_dim >= 0) {
                result[static_cast<size_t>(stage.loops[i].pure_dim)] = level.size[i];
            }
        }
        return result;
    }

    /// Puts everything that is fused into the levels of a stage there.
    LoopNestPtr fill(const LoopNest &nest, const ParsedNest &parsed, bool in_thread) {
        if (nest.innermost) {
            if (!parsed.children.empty()) {
                fail(parsed.children[0].line, "nothing can be placed in an innermost level");
            }
            return editor_.with_children(nest, {});
        }
        // An untiled nest of the root will run in a single thread.
        in_thread = in_thread || nest.axis == GpuAxis::Thread || nest.axis == GpuAxis::None;
        const ParsedNest &own = parsed.children.back();
        if (own.indent != parsed.indent + 1) {
            fail(own.line, "the enclosing level is missing");
        }
        std::vector<LoopNestPtr> children{fill(*nest.children[0], own, in_thread)};
        std::vector<const ParsedNest *> fused;
        for (size_t i = parsed.children.size() - 1; i-- > 0;) {
            fused.push_back(&parsed.children[i]);
        }
        for (LoopNestPtr &c : place_all(nest, fused, in_thread, parsed.indent + 1)) {
            children.push_back(std::move(c));
        }
        return editor_.with_children(nest, std::move(children));
    }

    void check_realized(const std::vector<ParsedRealize> &realized, const LoopNest &nest) const {
        for (const ParsedRealize &r : realized) {
            const int f = graph_.find_func(r.func);
            const auto &here = nest.store_set();
            if (std::find(here.begin(), here.end(), f) == here.end()) {
                continue;
            }
            const FuncRegion &region = nest.regions->of(f);
            Extents extents;
            for (int d = 0; d < region.func().dims(); d++) {
                extents.push_back(region.computed(d).extent());
            }
            if (extents != r.extents || r.num_stages != region.func().num_stages()) {
                fail(r.line,
                     "Func " + r.func + " computes " + sizes_text(extents) + " here in " +
                         std::to_string(region.func().num_stages()) + " stages");
            }
        }
    }

    /// Compares what only shows after inlining. `parsed` are the children of `nest`.
    void check_children(const std::vector<ParsedNest> &parsed, const LoopNest &nest) const {
        for (size_t i = 0; i < parsed.size(); i++) {
            const ParsedNest &expected = parsed[parsed.size() - 1 - i];
            const LoopNest &found = *nest.children[i];
            check_realized(expected.realized, found);
            for (const InlinedCall &c : found.inlined) {
                check_inlined(graph_.func(c.func).name, c.calls, expected);
            }
            if (found.inlined.size() != expected.inlined.size()) {
                fail(expected.line, "Funcs are inlined here that do not occur here");
            }
            check_children(expected.children, found);
        }
    }

    void check_inlined(const std::string &func, int64_t calls, const ParsedNest &expected) const {
        for (const ParsedInline &i : expected.inlined) {
            if (i.func == func && i.calls == calls) {
                return;
            }
        }
        fail(expected.line,
             "Func " + func + " is inlined here " + std::to_string(calls) +
                 " times, but the text does not say so");
    }

    const ParsedSchedule &schedule_;
    const LoopNestEditor &editor_;
    const PipelineGraph &graph_;
    std::set<int> placed_;
};

}  // namespace

LoopNestPtr
rebuild_schedule(const ParsedSchedule &schedule, const LoopNestEditor &editor, bool complete) {
    check_func_names(schedule, editor.graph());
    Rebuilder rebuilder(schedule, editor);
    if (complete) {
        rebuilder.check_complete();
    }
    return rebuilder.rebuild();
}

}  // namespace anderson2021
