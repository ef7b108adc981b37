#include "lowering/tail_rules.h"

namespace anderson2021 {

bool TailRules::is_harmless(const StageNode &stage) const {
    if (stage.reads_input) {
        return false;
    }
    for (const int e : stage.incoming_edges) {
        const Edge &edge = graph_.edge(e);
        const FuncNode &producer = graph_.func(edge.producer);
        // The user owns the buffers of outputs as well.
        if (producer.is_input || producer.is_output) {
            return false;
        }
        // An unknown derivative may hide an index that is itself loaded.
        if (edge.load_jacobians.empty() || !edge.all_load_jacobians_exist()) {
            return false;
        }
    }
    return stage.index == 0 || (stage.store_jacobian && stage.store_jacobian->all_exist());
}

bool TailRules::may_overcompute(const LoopNest &nest) const {
    if (graph_.func(nest.func).is_output || !is_harmless(graph_.stage(nest.stage_id))) {
        return false;
    }
    for (const InlinedCall &call : nest.inlined) {
        if (!is_harmless(graph_.func(call.func).stages[0])) {
            return false;
        }
    }
    for (const LoopNestPtr &c : nest.children) {
        if (!may_overcompute(*c)) {
            return false;
        }
    }
    return true;
}

TileEnd TailRules::for_whole_loop(StagePlan &plan, int loop, int64_t factor) const {
    const Span &span = whole_span(plan, loop);
    const bool divides = span.exact && span.extent() % factor == 0;
    const bool harmless = may_overcompute(*plan.outermost);
    if (!plan.at_root()) {
        // Rounding up must not make an allocation larger than planned.
        if (divides && harmless) {
            return {Tail::RoundUp};
        }
        plan.clips = plan.clips || !divides || plan.in_clipped_tile;
        return {Tail::GuardWithIf};
    }
    if (harmless) {
        return {Tail::RoundUp};
    }
    if (divides) {
        return {Tail::GuardWithIf};
    }
    if (plan.stage->index == 0 && span.extent() >= factor) {
        if (span.exact) {
            return {Tail::ShiftInwards};
        }
        plan.long_loops.emplace_back(loop, factor);
        if (plan.short_loops != ShortLoops::Guarded) {
            const bool single_points = plan.short_loops == ShortLoops::UnitTiles;
            return {single_points ? Tail::Auto : Tail::ShiftInwards, single_points};
        }
    }
    plan.clips = true;
    return {Tail::GuardWithIf};
}

Tail TailRules::for_box_in_thread(const StagePlan &plan) const {
    return !plan.in_clipped_tile && may_overcompute(*plan.outermost) ? Tail::RoundUp
                                                                     : Tail::GuardWithIf;
}

}  // namespace anderson2021
