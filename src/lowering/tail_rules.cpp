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

Tail TailRules::for_whole_loop(const StagePlan &plan, const Span &span, int64_t factor) const {
    const int64_t extent = span.extent();
    const bool fits = span.exact && extent % factor == 0;
    // Within a block, rounding up must not make an allocation larger than planned.
    if ((plan.at_root() || fits) && may_overcompute(*plan.outermost)) {
        return Tail::RoundUp;
    }
    // Below the root, a tile at the border may be smaller than planned.
    if (plan.at_root() && plan.stage->index == 0 && span.exact && extent >= factor) {
        return Tail::ShiftInwards;
    }
    return Tail::GuardWithIf;
}

}  // namespace anderson2021
