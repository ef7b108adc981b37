// Where a Func is evaluated: the region that its definitions compute when some region is required,
// and the loops of every definition.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

#include "algorithm/pipeline_graph.h"

namespace anderson2021 {

/// Fills in one Func, stage by stage.
class FuncDomain {
public:
    /// @param value_bounds  of all Funcs, parameters not replaced; must outlive this
    FuncDomain(const Halide::Internal::Function &f,
               const Halide::Internal::FuncValueBounds &value_bounds);

    /// Accounts for one definition, in stage order, and returns its loops, innermost first. Throws
    /// UserError if it writes at unbounded coordinates or if its reduction domain is empty or not
    /// constant once estimates are known.
    std::vector<LoopDim> add_stage(const Halide::Internal::Definition &def,
                                   const std::string &stage_name);

    /// After the last stage: region computed per dimension.
    std::vector<ComputedDim> computed() const;

    /// Names of the spans of `loops` as they occur in symbolic bounds.
    std::vector<std::string> span_names(const std::vector<LoopDim> &loops) const;
    /// Maps the variables of the definition to the symbolic ends of their loops.
    void bind_loops(const Halide::Internal::Definition &def,
                    Halide::Internal::Scope<Halide::Internal::Interval> &scope) const;

private:
    Halide::Internal::Interval symbolic_span(const std::string &var) const;
    std::vector<Span> reduction_spans(const Halide::Internal::Definition &def,
                                      const std::string &stage_name) const;
    void extend_region(const Halide::Internal::Definition &def,
                       const std::vector<Span> &reduction_domain,
                       const std::string &stage_name);

    const Halide::Internal::Function &func_;
    const Halide::Internal::FuncValueBounds &value_bounds_;
    Halide::Internal::Scope<Halide::Internal::Interval> args_;
    /// Region computed so far, parameters not replaced.
    std::vector<Halide::Internal::Interval> region_;
};

}  // namespace anderson2021
