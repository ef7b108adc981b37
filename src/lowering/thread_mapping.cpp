#include "lowering/thread_mapping.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

namespace {

/// A loop of one trip, to be put around everything that the stage does in a thread.
LoopVar make_single_thread(StagePlan &plan) {
    LoopVar single;
    single.literal = single.exact = true;
    const std::vector<LoopVar> &vars = plan.levels.front().vars;
    const auto pure =
        std::find_if(vars.begin(), vars.end(), [](const LoopVar &v) { return !v.ref.rvar; });
    single.ref = pure == vars.end() ? plan.split_outermost("thread")
                                    : plan.split(pure->ref, 1, Tail::Auto, "_thread");
    return single;
}

}  // namespace

bool KernelThreads::try_take(int dim, int64_t extent) {
    if (dim >= std::min(3, device_->max_thread_dims) || extent > device_->max_thread_extent[dim]) {
        return false;
    }
    std::array<int64_t, 3> wanted = extent_;
    wanted[static_cast<size_t>(dim)] = std::max(extent, wanted[static_cast<size_t>(dim)]);
    if (wanted[0] * wanted[1] * wanted[2] > device_->max_threads_per_block) {
        return false;
    }
    extent_ = wanted;
    return true;
}

void choose_threads(StagePlan &plan, KernelThreads &kernel) {
    const int thread_level = plan.thread_level();
    if (thread_level < 0 || plan.in_thread) {
        return;
    }
    PlanLevel &level = plan.levels[static_cast<size_t>(thread_level)];
    std::vector<LoopVar> around;
    for (LoopVar &v : level.vars) {
        const int64_t threads = std::min(v.trips, level.size[static_cast<size_t>(v.loop)]);
        if (v.ref.rvar || threads <= 1 ||
            !kernel.try_take(static_cast<int>(plan.thread_vars.size()), threads)) {
            continue;
        }
        if (!v.literal) {
            LoopVar outer = v;
            outer.ref = plan.split_outer(v.ref, threads, Tail::GuardWithIf, "_serial_outer");
            outer.trips = (v.trips + threads - 1) / threads;
            outer.literal = outer.exact = false;
            around.push_back(outer);
            v.trips = threads;
            v.literal = v.exact = true;
        }
        plan.thread_vars.push_back(v.ref);
    }
    if (plan.thread_vars.empty() && plan.computes_others(thread_level)) {
        // Without a thread loop, whatever is computed inside would count as shared by the block.
        around.insert(around.begin(), make_single_thread(plan));
        plan.thread_vars.push_back(around.front().ref);
    }
    level.vars.insert(level.vars.end(), around.begin(), around.end());
}

}  // namespace anderson2021
