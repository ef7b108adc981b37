// The text first names every Func and every loop variable that the trace mentions, then makes the
// calls. Original loop variables are fetched from the Funcs instead of being spelled out, since
// names that Halide generates differ from one process to the next.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "lowering/lower_schedule.h"
#include "lowering/name_allocator.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

const char *tail_name(Tail tail) {
    switch (tail) {
    case Tail::Auto:
        return "Auto";
    case Tail::RoundUp:
        return "RoundUp";
    case Tail::ShiftInwards:
        return "ShiftInwards";
    case Tail::GuardWithIf:
        return "GuardWithIf";
    }
    return "";
}

/// Stage whose loops a variable belongs to.
struct StageKey {
    int func = -1;
    int stage = 0;
};

class TracePrinter {
public:
    TracePrinter(const ScheduleTrace &trace, const PipelineGraph &graph)
        : graph_(graph), names_(make_identifier_allocator()) {
        // Funcs get the best names, and the same ones whatever the variables are called.
        std::vector<bool> used(static_cast<size_t>(graph.num_funcs()), false);
        for (const StageDirectives &s : trace.stages) {
            used[static_cast<size_t>(s.func)] = true;
        }
        for (const StagedProducer &s : trace.staged) {
            used[static_cast<size_t>(s.producer)] = used[static_cast<size_t>(s.consumer)] = true;
        }
        for (int f = 0; f < graph.num_funcs(); f++) {
            if (used[static_cast<size_t>(f)]) {
                use_what_leads_to(f, used);
            }
        }
        for (int f = 0; f < graph.num_funcs(); f++) {
            if (used[static_cast<size_t>(f)]) {
                funcs_[f] = names_.fresh(to_identifier(graph.func(f).name));
            }
        }
        for (const auto &func : funcs_) {
            print_wrapper(func.first);
        }
        for (const ReductionSplit &s : graph_.splits) {
            print_split(s);
        }
        for (const StageDirectives &s : trace.stages) {
            print_stage(s);
        }
        for (const StagedProducer &s : trace.staged) {
            print_staged(s);
        }
    }

    std::string text() const {
        std::ostringstream out;
        for (const auto &[func, name] : funcs_) {
            const int index = graph_.index_in_pipeline(func);
            if (index >= 0) {
                out << "Func " << name << " = pipeline.get_func(" << index << ");\n";
            }
        }
        out << wrappers_.str() << splits_.str() << declarations_.str() << statements_.str();
        return out.str();
    }

private:
    /// Wrappers are reached through other Funcs.
    void use_what_leads_to(int id, std::vector<bool> &used) const {
        const FuncNode &func = graph_.func(id);
        for (const int other : {func.wrapped_func, func.wrapped_in}) {
            if (other >= 0 && !used[static_cast<size_t>(other)]) {
                used[static_cast<size_t>(other)] = true;
                use_what_leads_to(other, used);
            }
        }
    }

    /// Fetches a Func that the user's Func::in made, after those that lead to it.
    void print_wrapper(int id) {
        const FuncNode &func = graph_.func(id);
        if (func.wrapped_func < 0 || !printed_wrappers_.insert(id).second) {
            return;
        }
        print_wrapper(func.wrapped_func);
        std::string key = "\"\"";
        if (func.wrapped_in >= 0) {
            print_wrapper(func.wrapped_in);
            key = funcs_.at(func.wrapped_in) + ".name()";
        }
        wrappers_ << "Func " << funcs_.at(id) << "(::Halide::Internal::Function("
                  << funcs_.at(func.wrapped_func) << ".function().schedule().wrappers().at(" << key
                  << ")));\n";
    }

    /// Makes the Func of partial results. No variable of a split is mentioned again by this name.
    void print_split(const ReductionSplit &s) {
        const std::string stage = stage_name({s.func, s.update + 1});
        std::ostringstream calls;
        std::string kept;
        for (const SplitLoop &loop : s.loops) {
            // By its position, before a split moves the others.
            const std::string var = names_.fresh(to_identifier(loop.var));
            splits_ << "RVar " << var << "(" << stage << ".get_schedule().dims()["
                    << loop.dims_index << "].var);\n";
            std::string kept_var = var;
            if (loop.factor != 0) {
                calls << "\n    .split(" << var << ", RVar(\"" << loop.outer << "\"), RVar(\""
                      << loop.inner << "\"), " << loop.factor << ")";
                kept_var = "RVar(\"" + loop.kept() + "\")";
            }
            kept += (kept.empty() ? "{" : ", {") + kept_var + ", Var(\"" + loop.arg + "\")}";
        }
        splits_ << "Func " << funcs_.at(s.intermediate) << " = " << stage << calls.str()
                << "\n    .rfactor({" << kept << "});\n";
    }

    std::string stage_name(StageKey key) const {
        const std::string &func = funcs_.at(key.func);
        return key.stage == 0 ? func : func + ".update(" + std::to_string(key.stage - 1) + ")";
    }

    /// Identifier of a variable; declares it when it is first met.
    std::string var(const VarRef &v, StageKey key) {
        // Equal names mean the same variable, or at least the same name in every process; but a
        // name made by a split is not to be fetched from a Func.
        const bool original = v.dims_index >= 0;
        const auto id = std::tuple(original, v.rvar, v.name);
        const auto known = vars_.find(id);
        if (known != vars_.end()) {
            return known->second;
        }
        const std::string name = names_.fresh(to_identifier(v.name));
        vars_[id] = name;
        declarations_ << (v.rvar ? "RVar " : "Var ") << name << "(";
        if (original) {
            declarations_ << stage_name(key) << ".get_schedule().dims()[" << v.dims_index
                          << "].var";
        } else {
            declarations_ << "\"" << v.name << "\"";
        }
        declarations_ << ");\n";
        return name;
    }

    std::string var_list(const std::vector<VarRef> &vars, StageKey key) {
        std::string text;
        for (const VarRef &v : vars) {
            text += (text.empty() ? "" : ", ") + var(v, key);
        }
        return text;
    }

    std::string compute_at(const Directive &d) {
        return "compute_at(" + funcs_.at(d.at_func) + ", " +
               var(d.vars[0], {d.at_func, d.at_stage}) + ")";
    }

    std::string call(const Directive &d, StageKey key) {
        using Kind = Directive::Kind;
        switch (d.kind) {
        case Kind::ComputeRoot:
            return "compute_root()";
        case Kind::ComputeAt:
            return compute_at(d);
        case Kind::Split:
            return "split(" + var_list(d.vars, key) + ", " + std::to_string(d.factor) +
                   ", TailStrategy::" + tail_name(d.tail) + ")";
        case Kind::Fuse:
            return "fuse(" + var_list(d.vars, key) + ")";
        case Kind::Reorder:
            return "reorder(" + var_list(d.vars, key) + ")";
        case Kind::ReorderStorage:
            return "reorder_storage(" + var_list(d.vars, key) + ")";
        case Kind::Unroll:
            return "unroll(" + var_list(d.vars, key) + ")";
        case Kind::GpuBlocks:
            return "gpu_blocks(" + var_list(d.vars, key) + ")";
        case Kind::GpuThreads:
            return "gpu_threads(" + var_list(d.vars, key) + ")";
        case Kind::GpuSingleThread:
            return "gpu_single_thread()";
        }
        ANDERSON_CHECK(false) << "Unknown directive";
        return "";
    }

    void print_calls(const std::vector<Directive> &directives, StageKey key) {
        for (const Directive &d : directives) {
            statements_ << "\n    ." << call(d, key);
        }
        statements_ << ";\n";
    }

    void print_condition(const Specialization &s) {
        statements_ << "\n    .specialize(";
        const char *separator = "";
        for (const SizeCondition &c : s.conditions) {
            statements_ << separator << funcs_.at(c.func) << ".output_buffers()[0].dim(" << c.dim
                        << ").extent() >= " << c.min_extent;
            separator = " && ";
        }
        statements_ << ")";
    }

    void print_stage(const StageDirectives &s) {
        const StageKey key{s.func, s.stage_index};
        const StageNode &node = graph_.func(s.func).stages[static_cast<size_t>(s.stage_index)];
        for (const SpecializedDefinition &specialized : node.specialized) {
            print_variant(s, specialized);
        }
        if (s.specialization && !node.ends_in_failure) {
            statements_ << stage_name(key);
            print_condition(*s.specialization);
            print_calls(s.specialization->directives, key);
        }
        if (!s.directives.empty()) {
            statements_ << stage_name(key);
            print_calls(s.directives, key);
        } else if (!node.is_touched) {
            // Tells Halide that the stage was not forgotten.
            statements_ << stage_name(key) << ".unscheduled();\n";
        }
    }

    /// The stage once more, for what the user has specialized it to.
    void print_variant(const StageDirectives &s, const SpecializedDefinition &specialized) {
        const StageKey key{s.func, s.stage_index};
        std::string definition = funcs_.at(s.func) + ".function()";
        definition += s.stage_index == 0 ? ".definition()"
                                         : ".update(" + std::to_string(s.stage_index - 1) + ")";
        for (const int i : specialized.path) {
            definition += ".specializations()[" + std::to_string(i) + "].definition";
        }
        const std::string variant = "::Halide::Stage(" + funcs_.at(s.func) + ".function(), " +
                                    definition + ", " + std::to_string(s.stage_index) + ")";
        if (s.specialization && !specialized.ends_in_failure) {
            statements_ << variant;
            print_condition(*s.specialization);
            print_calls(s.specialization->directives, key);
        }
        std::vector<Directive> calls;
        std::copy_if(s.directives.begin(),
                     s.directives.end(),
                     std::back_inserter(calls),
                     [](const Directive &d) { return !d.is_about_func(); });
        if (!calls.empty()) {
            statements_ << variant;
            print_calls(calls, key);
        }
    }

    void print_staged(const StagedProducer &s) {
        statements_ << funcs_.at(s.producer) << ".in(" << funcs_.at(s.consumer) << ")";
        // The wrapper has the arguments of the producer's pure stage.
        print_calls(s.directives, {s.producer, 0});
    }

    const PipelineGraph &graph_;
    NameAllocator names_;
    std::map<int, std::string> funcs_;
    std::map<std::tuple<bool, bool, std::string>, std::string> vars_;
    std::set<int> printed_wrappers_;
    std::ostringstream wrappers_, splits_, declarations_, statements_;
};

}  // namespace

std::string print_trace(const ScheduleTrace &trace, const PipelineGraph &graph) {
    return TracePrinter(trace, graph).text();
}

}  // namespace anderson2021
