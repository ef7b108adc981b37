// Which loops become GPU threads.
//
// Halide numbers thread dimensions from the inside out, so the order of the thread loops decides
// which one is thread x. All stages of a block share its threads: the launch has the maximum per
// dimension. What does not fit into the limits of the device stays a serial loop, which is slower
// but correct.
#pragma once

#include <array>
#include <cstdint>

#include "device/gpu_device.h"
#include "lowering/stage_plan.h"

namespace anderson2021 {

/// The threads of one kernel, while its stages are lowered.
class KernelThreads {
public:
    explicit KernelThreads(const GpuDevice &device) : device_(&device) {}

    /// Takes `extent` threads of dimension `dim` if the kernel then still is within all limits.
    bool try_take(int dim, int64_t extent);

    int64_t extent(int dim) const { return extent_[static_cast<size_t>(dim)]; }

private:
    const GpuDevice *device_;
    std::array<int64_t, 3> extent_{1, 1, 1};
};

/// Chooses the loops of the Thread level of `plan` that become threads (plan.thread_vars); none if
/// it has no such level or runs inside a thread. Every chosen loop has a literal trip count: where
/// the region decides on the number of trips, a serial loop is split off around it.
void choose_threads(StagePlan &plan, KernelThreads &kernel);

}  // namespace anderson2021
