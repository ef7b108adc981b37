#include "training/teacher.h"

#include <algorithm>
#include <utility>

namespace anderson2021 {

namespace {

// ms
constexpr float kSmallestRuntime = 1e-6f;

}  // namespace

void teach(Unit &unit, const std::vector<Network> &teachers, bool with_targets) {
    std::vector<float> sums(unit.multipliers.size()), coefficients;
    unit.runtimes.fill(0);
    const auto share = 1.0f / static_cast<float>(teachers.size());
    for (const Network &teacher : teachers) {
        const UnitResult result = teacher.predict(unit, nullptr, &coefficients);
        for (size_t lane = 0; lane < kLanes; lane++) {
            unit.runtimes[lane] += result.predictions[lane] * share;
        }
        for (size_t i = 0; i < sums.size(); i++) {
            sums[i] += coefficients[i] * share;
        }
    }
    for (float &runtime : unit.runtimes) {
        runtime = std::max(runtime, kSmallestRuntime);
    }
    if (with_targets) {
        unit.targets = std::move(sums);
    }
}

void teach(std::vector<Batch> &batches,
           const std::vector<Weights> &teachers,
           bool with_targets,
           ThreadPool &pool) {
    std::vector<Network> networks;
    for (const Weights &weights : teachers) {
        networks.emplace_back(weights);
    }
    pool.parallel_for(static_cast<int64_t>(batches.size()), [&](int64_t i) {
        Batch &batch = batches[static_cast<size_t>(i)];
        std::vector<DatasetEntry> &entries = batch.entries();
        float fastest = 0;
        for (size_t u = 0; u < batch.units.size(); u++) {
            Unit &unit = batch.units[u];
            teach(unit, networks, with_targets);
            for (int n = 0; n < unit.count; n++) {
                const float runtime = unit.runtimes[static_cast<size_t>(n)];
                entries[batch.first + u * kLanes + static_cast<size_t>(n)].runtimes = {runtime};
                fastest = fastest == 0 ? runtime : std::min(fastest, runtime);
            }
        }
        for (Unit &unit : batch.units) {
            unit.fastest = fastest;
        }
    });
}

}  // namespace anderson2021
