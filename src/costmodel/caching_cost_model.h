// Remembers costs of rows, since neighbouring schedules share most of their stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "costmodel/cost_model.h"

namespace anderson2021 {

/// A cost model that answers known rows from memory.
class CachingCostModel : public CostModel {
public:
    /// Rows asked for, and how many of them were known.
    struct Statistics {
        uint64_t rows = 0;
        uint64_t hits = 0;
    };
    virtual Statistics statistics() const = 0;
};

/// Rows are the same if position and features have the same bits, so results are the inner model's
/// to the bit. At most `capacity` rows (at least 2, 300 bytes each) are kept; begin() forgets them.
std::unique_ptr<CachingCostModel> make_caching_cost_model(std::unique_ptr<CostModel> inner,
                                                          size_t capacity = 65536);

}  // namespace anderson2021
