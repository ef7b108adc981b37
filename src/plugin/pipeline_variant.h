// The pipelines that the search may work on: the user's own, and copies of it in which long
// reductions are made of partial results.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Halide.h"

#include "device/gpu_device.h"
#include "frontend/graph_builder.h"
#include "plugin/reduction_plan.h"
#include "support/options.h"

namespace anderson2021 {

struct PipelineVariant {
    /// The graph knows the splits that make this pipeline out of the user's.
    BuiltGraph built;
    std::vector<Halide::Internal::Function> outputs;
    /// What it is made by; empty: it is the user's own.
    std::vector<ReductionParts> parts;
};

using VariantPtr = std::shared_ptr<const PipelineVariant>;

/// E.g. "sum.update(0) in about 4096 parts"; empty for the user's own pipeline.
std::string describe_parts(const PipelineVariant &variant);

/// What it depends on whether, and how, reductions are split.
struct VariantCriteria {
    const Options &options;
    const GpuDevice &device;
    const Halide::Target &target;
};

/// A reduction that takes many steps in few threads and can be split.
struct SplittableReduction {
    LongReduction reduction;
    std::string func;
    bool in_runs = false;
    std::vector<int64_t> part_counts;
};

/// All variants of one pipeline. Changes nothing in the user's Funcs.
class PipelineVariants {
public:
    /// Throws UserError like build_graph.
    PipelineVariants(std::vector<Halide::Internal::Function> outputs,
                     const VariantCriteria &criteria);

    const VariantPtr &as_it_is() const { return as_it_is_; }
    /// Of the variants besides.
    int count() const;
    /// Of what can be split, and how.
    std::string fingerprint() const;
    /// The i-th variant: with the i-th number of parts, or the last one, for each reduction. What
    /// the compiler refuses to split is left alone from then on; null if nothing remains.
    VariantPtr build(int i);
    /// The variant that was made by `parts`. Throws UserError if this pipeline has none.
    VariantPtr rebuild(const std::vector<ReductionParts> &parts) const;

private:
    std::vector<Halide::Internal::Function> outputs_;
    const Halide::Target &target_;
    VariantPtr as_it_is_;
    std::vector<SplittableReduction> candidates_;
    // Of the user's Funcs in their pipeline.
    std::map<std::string, int> positions_;
};

/// Makes the user's pipeline what the variant is. Returns the user's functions and the new ones per
/// Func id of the variant's graph. The last step before scheduling: nothing undoes it.
std::vector<Halide::Internal::Function>
carry_out_variant(const PipelineVariant &variant,
                  const std::vector<Halide::Internal::Function> &outputs);

}  // namespace anderson2021
