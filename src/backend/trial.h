// Tries a schedule on copies of the user's Funcs, as those cannot be unscheduled once it has turned
// out that the compiler refuses it.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

#include "algorithm/pipeline_graph.h"
#include "lowering/directive.h"

namespace anderson2021 {

/// The pipeline that a schedule is for.
struct TrialPipeline {
    const PipelineGraph &graph;
    /// Per Func id.
    const std::vector<Halide::Internal::Function> &functions;
    const std::vector<Halide::Internal::Function> &outputs;
    const Halide::Target &target;
};

enum class TrialDepth {
    /// Only the scheduling calls: milliseconds.
    Calls,
    /// The loops as well, down to the point where the code of kernels would be generated: most of
    /// what compiling for a GPU takes.
    Loops,
};

/// Empty if the compiler accepts the schedule, else its complaint. Changes neither the pipeline's
/// Funcs nor their schedules. Without exceptions in Halide, where a complaint ends the process,
/// nothing is tried.
std::string try_trace(const ScheduleTrace &trace, const TrialPipeline &pipeline, TrialDepth depth);

}  // namespace anderson2021
