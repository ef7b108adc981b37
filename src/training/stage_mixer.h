// Stages that no pipeline has: made-up inputs of the network, for learning from another network.
//
// A teacher answers for any input, so the inputs need not come from pipelines. Those of a few
// pipelines lie on thin sheets in the space of all features, and a student that knows the teacher
// only there is wrong about the next pipeline. So stages are taken apart: the algorithm of one
// stage gets the schedule of another, algorithms are added up and thinned out, and the features of
// schedules are shifted along differences of schedules, exchanged one by one, and shaken.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "training/dataset.h"

namespace anderson2021 {

/// Sixteen made-up schedules of one made-up stage. The unit points to the algorithm.
struct MixedUnit {
    MixedUnit() = default;
    MixedUnit(const MixedUnit &) = delete;
    MixedUnit &operator=(const MixedUnit &) = delete;

    SparseAlgorithm algorithm;
    /// Inputs; multipliers as far as the unit is as it is in a pipeline, else zero; targets are
    /// zero.
    Unit unit;
};

struct MixerOptions {
    /// Stages of schedules that are kept to mix from, chosen at random.
    int64_t rows = 60000;
    /// Share of the units that are left as they are in a pipeline.
    double unmixed = 0.05;
    int64_t seed = 0;
};

class StageMixer {
public:
    /// Takes what it needs from the dataset, both from the training and the validation set; its
    /// run times do not matter. A UserError if there is nothing in it.
    StageMixer(const Dataset &dataset, const MixerOptions &options);

    /// The unit of that number; a function of number and seed alone, so it may be called from
    /// several threads.
    void make(uint64_t number, MixedUnit &result) const;

    int64_t num_rows() const { return static_cast<int64_t>(rows_.size()); }

private:
    class Dice;
    using Features = std::array<float, kNumScheduleFeatures>;
    struct Row {
        Features inputs;
        std::array<float, kConv1Channels> multipliers;
        // Index of its algorithm.
        uint32_t algorithm;
    };

    void mix_algorithm(Dice &dice, uint32_t from, MixedUnit &result) const;
    void mix_schedule(Dice &dice, size_t lane, Unit &unit) const;
    void copy_stage(Dice &dice, MixedUnit &result) const;
    void add_rows(const Dataset &dataset);
    void find_ranges();
    const Row &any_row(Dice &dice) const;

    MixerOptions options_;
    std::vector<std::vector<SparseAlgorithm::Entry>> algorithms_;
    // Sorted by algorithm.
    std::vector<Row> rows_;
    // Where the rows of an algorithm begin; one entry more than there are algorithms.
    std::vector<uint32_t> first_row_;
    Features smallest_{}, largest_{}, deviations_{};
};

}  // namespace anderson2021
