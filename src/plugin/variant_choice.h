// Which variant of a pipeline is searched: short searches on trial tell.
#pragma once

#include <functional>
#include <memory>

#include "costmodel/cost_model.h"
#include "plugin/pipeline_variant.h"
#include "plugin/search_monitor.h"

namespace anderson2021 {

/// A cost model that has begun on this graph.
using CostModelMaker = std::function<std::unique_ptr<CostModel>(const PipelineGraph &)>;

/// The cheapest variant. If there are reductions in few threads that can be split, a short search
/// is made for the pipeline as it is and for each number of parts. To what the cost model predicts
/// of a schedule, which knows nothing of threads that wait for their own results, is added what is
/// missing to kStepMs per step of a reduction in a thread, and kLaunchMs per kernel.
///
/// Reports the progress to `monitor`; whoever asks for the end gets the best variant so far. Throws
/// SearchGivenUp.
VariantPtr choose_variant(PipelineVariants &variants,
                          const VariantCriteria &criteria,
                          const CostModelMaker &cost_model,
                          SearchMonitor &monitor);

/// A step of a reduction loads, computes and stores, and the next one needs the result: about 140
/// cycles of a V100, between those of its first and those of its second cache.
constexpr double kStepMs = 1e-4;
constexpr double kLaunchMs = 4e-3;

/// Calls `schedule`, which throws if there is no schedule, with the variant, and if it throws, with
/// the pipeline as it is; the log says so, with the reason. Returns what was scheduled. Throws what
/// the last call throws, and SearchGivenUp at once.
VariantPtr schedule_some(const VariantPtr &variant,
                         const VariantPtr &as_it_is,
                         const std::function<void(const VariantPtr &)> &schedule);

}  // namespace anderson2021
