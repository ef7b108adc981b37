#include "backend/apply_trace.h"

#include <optional>
#include <string>
#include <utility>

#include "support/error.h"

namespace anderson2021 {

namespace {

using Halide::Func;
using Halide::RVar;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

TailStrategy tail_strategy(Tail tail) {
    switch (tail) {
    case Tail::Auto:
        return TailStrategy::Auto;
    case Tail::RoundUp:
        return TailStrategy::RoundUp;
    case Tail::ShiftInwards:
        return TailStrategy::ShiftInwards;
    case Tail::GuardWithIf:
        return TailStrategy::GuardWithIf;
    }
    return TailStrategy::Auto;
}

VarOrRVar loop_var(const VarRef &v) {
    if (v.rvar) {
        return RVar(v.name);
    }
    return Var(v.name);
}

/// Carries out directives on one stage; those about the whole Func go to `func`.
class StageScheduler {
public:
    /// No stage is needed for directives about the whole Func; extern ones have none.
    StageScheduler(Func func,
                   std::optional<Stage> stage,
                   const std::vector<Halide::Internal::Function> &functions)
        : func_(std::move(func)), stage_(std::move(stage)), functions_(functions) {}

    void apply(const Directive &d) {
        if (d.is_about_func()) {
            apply_to_func(d);
        } else {
            apply_to_stage(d);
        }
    }

private:
    void apply_to_func(const Directive &d) {
        if (d.kind == Directive::Kind::ComputeRoot) {
            func_.compute_root();
        } else if (d.kind == Directive::Kind::ComputeAt) {
            const Func site(functions_.at(static_cast<size_t>(d.at_func)));
            func_.compute_at(Halide::LoopLevel(site, loop_var(d.vars.at(0))));
        } else {
            std::vector<Var> vars;
            for (const VarRef &v : d.vars) {
                vars.emplace_back(v.name);
            }
            func_.reorder_storage(vars);
        }
    }

    void apply_to_stage(const Directive &d) {
        ANDERSON_CHECK(stage_.has_value()) << func_.name() << " has no stages";
        std::vector<VarOrRVar> vars;
        for (const VarRef &v : d.vars) {
            vars.push_back(loop_var(v));
        }
        switch (d.kind) {
        case Directive::Kind::Split:
            stage_->split(vars.at(0),
                          vars.at(1),
                          vars.at(2),
                          static_cast<int>(d.factor),
                          tail_strategy(d.tail));
            break;
        case Directive::Kind::Fuse:
            stage_->fuse(vars.at(0), vars.at(1), vars.at(2));
            break;
        case Directive::Kind::Reorder:
            stage_->reorder(vars);
            break;
        case Directive::Kind::Unroll:
            stage_->unroll(vars.at(0));
            break;
        case Directive::Kind::GpuBlocks:
            stage_->gpu_blocks(vars.at(0));
            break;
        case Directive::Kind::GpuThreads:
            stage_->gpu_threads(vars.at(0));
            break;
        case Directive::Kind::GpuSingleThread:
            stage_->gpu_single_thread();
            break;
        default:
            ANDERSON_CHECK(false) << "Directive " << static_cast<int>(d.kind) << " of a stage";
        }
    }

    Func func_;
    std::optional<Stage> stage_;
    const std::vector<Halide::Internal::Function> &functions_;
};

void apply_all(const std::vector<Directive> &directives, StageScheduler scheduler) {
    for (const Directive &d : directives) {
        scheduler.apply(d);
    }
}

Halide::Expr all_of(const std::vector<SizeCondition> &conditions,
                    const std::vector<Halide::Internal::Function> &functions) {
    Halide::Expr all;
    for (const SizeCondition &c : conditions) {
        const Func output(functions.at(static_cast<size_t>(c.func)));
        const Halide::Expr extent = output.output_buffers()[0].dim(c.dim).extent();
        const Halide::Expr holds = extent >= static_cast<int>(c.min_extent);
        all = all.defined() ? all && holds : holds;
    }
    return all;
}

// All calls for one definition of a stage.
void apply_to_definition(const StageDirectives &s,
                         bool ends_in_failure,
                         const Func &func,
                         Stage stage,
                         const std::vector<Halide::Internal::Function> &functions) {
    // Nothing can come after a failure, and what it is for is computed nowhere.
    if (s.specialization && !ends_in_failure) {
        const Stage special = stage.specialize(all_of(s.specialization->conditions, functions));
        apply_all(s.specialization->directives, {func, special, functions});
    }
    if (s.directives.empty()) {
        // Halide says so of stages that it knows somebody has had a hand in.
        if (!stage.get_schedule().touched()) {
            stage.unscheduled();
        }
    } else {
        apply_all(s.directives, {func, stage, functions});
    }
}

Halide::Internal::Definition
definition_at(const Halide::Internal::Function &f, int stage_index, const std::vector<int> &path) {
    Halide::Internal::Definition def =
        stage_index == 0 ? f.definition() : f.update(stage_index - 1);
    for (const int i : path) {
        const Halide::Internal::Definition inner =
            def.specializations().at(static_cast<size_t>(i)).definition;
        def = inner;
    }
    return def;
}

}  // namespace

void apply_trace(const ScheduleTrace &trace,
                 const PipelineGraph &graph,
                 const std::vector<Halide::Internal::Function> &functions) {
    ANDERSON_CHECK(static_cast<int>(functions.size()) == graph.num_funcs());
    for (const StageDirectives &s : trace.stages) {
        Func func(functions.at(static_cast<size_t>(s.func)));
        if (functions.at(static_cast<size_t>(s.func)).has_extern_definition()) {
            apply_all(s.directives, {func, std::nullopt, functions});
            continue;
        }
        Stage stage = s.stage_index == 0 ? Stage(func) : func.update(s.stage_index - 1);
        const StageNode &node = graph.func(s.func).stages.at(static_cast<size_t>(s.stage_index));
        for (const SpecializedDefinition &specialized : node.specialized) {
            const Stage variant(func.function(),
                                definition_at(func.function(), s.stage_index, specialized.path),
                                static_cast<size_t>(s.stage_index));
            apply_to_definition(s, specialized.ends_in_failure, func, variant, functions);
        }
        apply_to_definition(s, node.ends_in_failure, func, stage, functions);
    }
    for (const StagedProducer &s : trace.staged) {
        Func producer(functions.at(static_cast<size_t>(s.producer)));
        const Func consumer(functions.at(static_cast<size_t>(s.consumer)));
        Func wrapper = producer.in(consumer);
        apply_all(s.directives, {wrapper, Stage(wrapper), functions});
    }
}

}  // namespace anderson2021
