// Which Funcs one definition reads, and which region of them, as functions of its loops.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "Halide.h"

#include "algorithm/pipeline_graph.h"
#include "frontend/expression_scan.h"
#include "frontend/func_domain.h"

namespace anderson2021 {

/// What the analysis of every stage needs of the whole pipeline.
struct PipelineFacts {
    std::map<std::string, Halide::Internal::Function> env;
    std::map<std::string, int> func_ids;
    /// Ranges of the values of all Funcs: with parameters, and with estimates in their place.
    Halide::Internal::FuncValueBounds value_bounds;
    Halide::Internal::FuncValueBounds estimated_value_bounds;
    /// Funcs whose range of values depends on an estimate.
    std::set<std::string> estimated_values;
};

/// One definition of a Func.
struct StageSource {
    const Halide::Internal::Function &func;
    const Halide::Internal::Definition &def;
    const StageNode &node;
    const FuncDomain &domain;
};

/// Edges into the stage, sorted by producer name: producer, footprint and calls. Throws UserError
/// if a Func is read at unbounded coordinates.
std::vector<Edge> footprint_edges(const StageSource &stage,
                                  const Halide::Expr &bundle,
                                  const ExpressionScan &scan,
                                  const PipelineFacts &facts);

/// Edges into a Func with an extern definition. Only the pipeline itself will learn which regions
/// that one reads: its own coordinates are assumed, as far as dimensions go, and never relied upon.
std::vector<Edge> extern_edges(const Halide::Internal::Function &f,
                               const StageNode &node,
                               const PipelineFacts &facts);

}  // namespace anderson2021
