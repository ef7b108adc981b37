// Conditions on the sizes of the outputs under which the loops of a stage at the root are long
// enough for its tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lowering/directive.h"
#include "lowering/stage_plan.h"

namespace anderson2021 {

class SizeConditions {
public:
    explicit SizeConditions(const PipelineGraph &graph);

    /// Conditions that imply the minimal trips of plan.long_loops; nothing if there are none,
    /// because the lengths of the loops also depend on parameters or inputs. For an output the
    /// conditions are about its own buffer, else about the buffers of all outputs. Empty if the
    /// loops are long enough at any size.
    std::optional<std::vector<SizeCondition>> for_plan(const StagePlan &plan);

private:
    /// The pipeline at a fraction of the estimated size.
    struct Fraction {
        PipelineGraph graph;
        std::optional<NestRegions> regions;
    };

    const Fraction &fraction(int64_t divisor);
    bool long_enough(const StagePlan &plan, const Fraction &fraction) const;

    const PipelineGraph &graph_;
    const BitSet follows_outputs_;
    std::vector<std::pair<int64_t, std::unique_ptr<Fraction>>> fractions_;
};

}  // namespace anderson2021
