// Distils a Halide pipeline into a PipelineGraph.
#pragma once

#include <memory>
#include <vector>

#include "Halide.h"

#include "algorithm/pipeline_graph.h"

namespace anderson2021 {

/// The graph and, per Func id, the function that it was made from.
struct BuiltGraph {
    std::unique_ptr<PipelineGraph> graph;
    std::vector<Halide::Internal::Function> functions;
};

/// Throws UserError, naming the Func or parameter and the remedy, if the pipeline already has a
/// schedule, lacks an estimate that its bounds depend on, accesses something
/// at unbounded coordinates, or uses types that the target's back end does not survive. The
/// pipeline is not changed.
/// @param target  no part of the graph depends on it
BuiltGraph build_graph(const std::vector<Halide::Internal::Function> &outputs,
                       const Halide::Target &target);

}  // namespace anderson2021
