// Predicts the run time of schedules from their features.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "features/stage_row.h"

namespace anderson2021 {

/// Algorithm features of the stages of one pipeline, in record order (Funcs in graph order without
/// inputs, last update first): per stage the 280 counts that the network sees.
struct AlgorithmInputs {
    int num_stages = 0;
    /// num_stages x 280, kind-major, scalar type innermost, as in feature records.
    std::vector<float> features;
    /// Multiprocessors that a launch is spread over.
    int num_cores = 16;
};

/// Costs are additive over stages and a stage's cost depends on its own row alone, so the unit of
/// evaluation is a row, not a schedule.
class CostModel {
public:
    virtual ~CostModel() = default;
    /// Once per pipeline, before the first predict.
    virtual void begin(const AlgorithmInputs &inputs) = 0;
    /// Cost in ms of each row, in order. Any number of rows. A row's cost does not depend on the
    /// other rows. Non-finite costs are returned as they are; a row that the network is not defined
    /// for (see is_usable_row) costs NaN. Safe from several threads at once.
    virtual std::vector<float> predict(const std::vector<StageRow> &rows) = 0;
};

}  // namespace anderson2021
