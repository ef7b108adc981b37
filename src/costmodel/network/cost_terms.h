// The hand-written half of the cost model: what each coefficient of the network is multiplied by.
//
// The cost of a stage, in picoseconds, is linear in the coefficients that the network computes;
// this file holds the whole table of multipliers. It is a template over the kind of arithmetic, so
// that the compiled network (Halide expressions) and the plain model (double) cannot drift apart.
// To add a term, add a line here and give it a coefficient that is still free (23, 30 and 31).
#pragma once

#include <vector>

#include "features/schedule_features.h"

namespace anderson2021 {

/// Index of each schedule feature in a row, by name.
namespace feature {
enum Index : int {
#define ANDERSON_SCHEDULE_FEATURE(name, unit, default_value, meaning) name,
#include "features/schedule_features.def"
#undef ANDERSON_SCHEDULE_FEATURE
};
}  // namespace feature

/// Brings a sum of terms (picoseconds) to milliseconds.
constexpr float kMillisecondsPerUnit = 1e-9f;

template<typename Value>
struct CostTerm {
    /// Which output of the network.
    int coefficient;
    /// Zero where the term does not apply to the stage.
    Value multiplier;
};

/// The terms of one stage.
///
/// `f(i)` yields raw feature i. `Ops` supplies the type `Value` and the functions max(a, b),
/// ceil(a), and select(condition, a, b), where a condition is what comparing two Values gives.
template<typename Ops, typename Feature, typename Value = typename Ops::Value>
std::vector<CostTerm<Value>> cost_terms(const Feature &f, const Value &num_cores) {
    const Value zero(0.0f), one(1.0f);
    const Value realizations = f(feature::num_realizations);
    const Value productions = f(feature::num_productions);
    const Value scalars = f(feature::num_scalars);
    const Value blocks = Ops::max(one, f(feature::num_blocks));
    const Value threads = blocks * f(feature::num_threads_per_block);
    const Value tasks =
        Ops::max(one, f(feature::inner_parallelism) * f(feature::outer_parallelism));
    const auto is_inlined = f(feature::inlined_calls) != zero;
    const auto is_parallel = f(feature::inner_parallelism) > one;

    // Cores that idle in the last wave of tasks.
    const Value waves = tasks / num_cores;
    const Value wave_penalty = Ops::ceil(waves) / Ops::max(one, waves);
    // An inlined stage has no lanes and no memory traffic of its own to be inefficient with.
    const auto unless_inlined = [&](const Value &penalty) {
        return Ops::select(is_inlined, one, penalty);
    };
    const Value lane_penalty = unless_inlined(one / (one - f(feature::idle_lane_wastage)));
    const Value load_penalty = unless_inlined(one / f(feature::global_mem_load_efficiency));
    const Value store_penalty = unless_inlined(one / f(feature::global_mem_store_efficiency));

    const Value points = scalars * wave_penalty * lane_penalty;
    const Value thread_points =
        threads * f(feature::points_computed_per_thread) * wave_penalty * lane_penalty;

    return {
        // Computation: one pair of coefficients for stages with loops, another for inlined ones.
        {1, Ops::select(is_inlined, zero, points)},
        {3, Ops::select(is_inlined, points, zero)},
        {19, Ops::select(is_inlined, zero, thread_points)},
        {4, Ops::select(is_inlined, thread_points, zero)},
        // Loads, counted per realization, per thread, per point, per task and per block.
        {5, realizations * f(feature::unique_global_lines_read_per_realization)},
        {16, realizations * f(feature::unique_shared_lines_read_per_realization)},
        {8, realizations * f(feature::unique_register_lines_read_per_realization)},
        {6, realizations * f(feature::unique_global_bytes_read_per_realization)},
        {20, realizations * f(feature::unique_shared_bytes_read_per_realization)},
        {7, realizations * f(feature::unique_register_bytes_read_per_realization)},
        {18, threads * f(feature::unique_global_lines_read_per_thread)},
        {17, threads * f(feature::unique_shared_lines_read_per_thread)},
        {2, threads * f(feature::unique_register_lines_read_per_thread)},
        {13, threads * f(feature::unique_global_bytes_read_per_thread)},
        {11, threads * f(feature::unique_shared_bytes_read_per_thread)},
        {0, threads * f(feature::unique_register_bytes_read_per_thread)},
        {10, scalars * f(feature::unique_bytes_read_per_point)},
        {12, scalars * f(feature::unique_lines_read_per_point)},
        {14, tasks * f(feature::unique_bytes_read_per_task)},
        {15, tasks * f(feature::unique_lines_read_per_task)},
        {28, blocks * f(feature::num_global_mem_loads_per_block) * load_penalty},
        {27, blocks * f(feature::num_shared_mem_loads_per_block)},
        // Stores; the last one is false sharing between tasks.
        {29, blocks * f(feature::num_shared_mem_stores_per_block)},
        {21, blocks * f(feature::num_global_mem_stores_per_block) * store_penalty},
        {22,
         Ops::select(is_parallel,
                     scalars / Ops::max(one, f(feature::global_innermost_bytes_at_task)),
                     zero)},
        // Overheads of allocations, launches and tasks.
        {24, realizations},
        {25, Ops::select(is_parallel, productions, zero)},
        {26, productions * (f(feature::inner_parallelism) - one)},
        // Pressure on the caches.
        {9, f(feature::working_set)},
    };
}

}  // namespace anderson2021
