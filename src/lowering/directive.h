// The schedule as data: a list of scheduling calls per stage, with final variable names. It is
// applied to the user's Funcs and printed as C++ from the same list, so the two cannot differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anderson2021 {

/// Halide::TailStrategy, as far as we use it.
enum class Tail { Auto, RoundUp, ShiftInwards, GuardWithIf };

/// A loop variable of a stage.
struct VarRef {
    std::string name;
    bool rvar = false;
    /// For a variable of the original definition: its position in the stage's dims() before any
    /// scheduling (the printed text fetches the name from there). -1 for variables made by splits.
    int dims_index = -1;
};

struct Directive {
    enum class Kind {
        ComputeRoot,
        ComputeAt,        // at_func, at_stage, vars[0]
        Split,            // vars = {old, outer, inner}, factor, tail
        Fuse,             // vars = {inner, outer, fused}
        Reorder,          // vars innermost first, at least two
        ReorderStorage,   // vars
        Unroll,           // vars[0]
        GpuBlocks,        // vars[0]
        GpuThreads,       // vars[0]
        GpuSingleThread,  //
    };
    Kind kind = Kind::ComputeRoot;
    std::vector<VarRef> vars;
    int64_t factor = 0;
    Tail tail = Tail::Auto;
    /// ComputeAt: Func id and stage index of the loop. Halide must not be told the stage (that is
    /// for compute_with only): it computes the Func in whichever stage reads it.
    int at_func = -1;
    int at_stage = 0;

    /// Not about the loops of one stage.
    bool is_about_func() const {
        return kind == Kind::ComputeRoot || kind == Kind::ComputeAt || kind == Kind::ReorderStorage;
    }
};

/// "Dimension `dim` of the buffer of output `func` has at least `min_extent` points."
struct SizeCondition {
    int func = -1;
    int dim = 0;
    int64_t min_extent = 1;
};

/// A second schedule of a stage, for runs in which all conditions hold. Loops have the same names
/// in both, so that other Funcs can be computed inside either.
struct Specialization {
    std::vector<SizeCondition> conditions;
    std::vector<Directive> directives;
};

/// Directives of one stage of a Func, in order of application; the specialization comes first.
struct StageDirectives {
    int func = -1;
    int stage_index = 0;
    std::optional<Specialization> specialization;
    std::vector<Directive> directives;
};

/// `producer.in(consumer)` with its directives: a producer staged through registers of a thread.
struct StagedProducer {
    int producer = -1;
    int consumer = -1;
    std::vector<Directive> directives;
};

/// Everything that has to be called, in order: stages first, then the staged producers.
struct ScheduleTrace {
    std::vector<StageDirectives> stages;
    std::vector<StagedProducer> staged;
};

}  // namespace anderson2021
