// From a pipeline's variants to the schedule of one of them: out of the cache, or else by searches,
// whose result goes there.
#pragma once

#include <functional>
#include <memory>

#include "costmodel/weights.h"
#include "plugin/pipeline_variant.h"
#include "plugin/schedule_choice.h"
#include "schedule/regions.h"

namespace anderson2021 {

struct FoundSchedule {
    VariantPtr variant;
    /// What the trees refer to.
    std::unique_ptr<RegionStore> store;
    ChosenSchedule chosen;
};

/// What the cost model has to know of a pipeline.
AlgorithmInputs algorithm_inputs(const PipelineGraph &graph, int num_cores);

/// The schedule, which the compiler accepts. Shows the progress of the searches to the terminal and
/// to the host; a schedule from the cache takes none. Logs what is decided. Throws UserError if
/// there is no schedule, or the host gives up.
FoundSchedule
find_schedule(PipelineVariants &variants, const VariantCriteria &criteria, const Weights &weights);

}  // namespace anderson2021
