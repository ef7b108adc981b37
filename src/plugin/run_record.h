// A record of one run of the autoscheduler, from which a program can explain its result.
#pragma once

#include <string>

#include "algorithm/pipeline_graph.h"
#include "costmodel/weights.h"
#include "device/gpu_device.h"
#include "search/search.h"
#include "support/options.h"

namespace anderson2021 {

/// What a run started from.
struct RunInputs {
    const PipelineGraph &graph;
    const GpuDevice &device;
    const Options &options;
    const Weights &weights;
    const AlgorithmInputs &algorithm;
    /// As Halide prints it.
    std::string target;
};

/// The record as JSON text, with version kRunRecordFormat in "format". Times and costs are in ms,
/// sizes in bytes.
///
///   format, version (of the plugin), target, options{}, device{}, cost_ms, statistics{}
///   schedule     C++ source
///   progress[]   step, elapsed_ms, best_cost_ms, states
///   tree         func, stage, axis, loops[], vector_dim, inlined[], children[]; the root has no
///                func
///   stages[]     name, func, stage, cost_ms, features{}, terms[]: group, what, coefficient (ps),
///                multiplier, cost_ms
///   kernels[]    stage, threads[], blocks, shared_bytes, registers (estimate), resident_blocks per
///                multiprocessor, occupancy (0 to 1), limiter, warnings[]
///   funcs[]      name, place, places[] (place, cost_ms, chosen), rejected{} (how many per rule)
/// A place is {"kind": "inlined" | "root" | "block" | "thread" | "serial", "inside": Func or null}.
std::string
run_record(const RunInputs &inputs, const SearchResult &found, const std::string &source);

constexpr int kRunRecordFormat = 1;

/// Writes it to options.record_path, as a whole or not at all. Throws UserError if that fails.
void write_run_record(const RunInputs &inputs,
                      const SearchResult &found,
                      const std::string &source);

}  // namespace anderson2021
