// Random schedules of one algorithm, one after the other.
//
// Each is a descent through all decisions as in a search. What descents find out about tilings and
// blocks is kept for the next ones: it costs far more than the descent itself.
#pragma once

#include <cstdint>
#include <memory>

#include "search/search.h"

namespace anderson2021 {

/// Not thread-safe; each thread needs its own, with its own store and cost model.
class ScheduleSampler {
public:
    /// Everything is kept by reference but the options. Of these, beam_size and random_dropout say
    /// how random the descents are; partial schedules and several passes are not for sampling.
    ScheduleSampler(const PipelineGraph &graph,
                    RegionStore &store,
                    const GpuDevice &device,
                    const Options &options,
                    CostModel &cost_model);
    ~ScheduleSampler();

    /// A complete schedule with its features; its statistics stay empty. Depends on the seed alone,
    /// not on earlier calls. Throws UserError if the descent ends where nothing is legal.
    SearchResult sample(int64_t seed);

private:
    struct Shared;
    std::unique_ptr<Shared> shared_;
};

}  // namespace anderson2021
