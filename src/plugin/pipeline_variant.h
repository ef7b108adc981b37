// The pipeline that the search works on: the user's own, or a copy of it in which long reductions
// are made of partial results.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "Halide.h"

#include "costmodel/cost_model.h"
#include "device/gpu_device.h"
#include "frontend/graph_builder.h"
#include "support/options.h"

namespace anderson2021 {

struct PipelineVariant {
    /// The graph knows the splits that make this pipeline out of the user's.
    BuiltGraph built;
    std::vector<Halide::Internal::Function> outputs;
};

/// What the choice between variants rests on.
struct VariantCriteria {
    const Options &options;
    const GpuDevice &device;
    const Halide::Target &target;
    /// A cost model that has begun on this graph.
    std::function<std::unique_ptr<CostModel>(const PipelineGraph &)> cost_model;
};

/// The cheapest variant. If there are reductions in few threads that can be split, a short search
/// is made for the pipeline as it is and for each number of parts. To what the cost model predicts
/// of a schedule, which knows nothing of threads that wait for their own results, is added what is
/// missing to kStepMs per step of a reduction in a thread, and kLaunchMs per kernel.
///
/// Changes nothing in the user's Funcs. Throws UserError like build_graph.
PipelineVariant choose_variant(const std::vector<Halide::Internal::Function> &outputs,
                               const VariantCriteria &criteria);

/// A step of a reduction loads, computes and stores, and the next one needs the result: about 140
/// cycles of a V100, between those of its first and those of its second cache.
constexpr double kStepMs = 1e-4;
constexpr double kLaunchMs = 4e-3;

/// Makes the user's pipeline what the variant is. Returns the user's functions and the new ones per
/// Func id of the variant's graph. The last step before scheduling: nothing undoes it.
std::vector<Halide::Internal::Function>
carry_out_variant(const PipelineVariant &variant,
                  const std::vector<Halide::Internal::Function> &outputs);

}  // namespace anderson2021
