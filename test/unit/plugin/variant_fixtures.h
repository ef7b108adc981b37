// Pipelines with long reductions, and what their variants are chosen by.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "Halide.h"

#include "backend/apply_trace.h"
#include "costmodel/cost_model.h"
#include "lowering/lower_schedule.h"
#include "plugin/pipeline_variant.h"
#include "plugin/variant_choice.h"
#include "schedule/schedule_text.h"
#include "search/search.h"

namespace anderson2021 {
namespace test {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Param;
using Halide::RDom;
using Halide::Tuple;
using Halide::Var;
using Functions = std::vector<Halide::Internal::Function>;

inline const Halide::Target &target() {
    static const Halide::Target cuda("host-cuda-cuda_capability_70");
    return cuda;
}

/// Stands in for a cost model: the steps of all stages, 1 ms each million.
class StepCounter : public CostModel {
public:
    void begin(const AlgorithmInputs &) override {}
    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        std::vector<float> costs;
        for (const StageRow &row : rows) {
            ScheduleFeatures f;
            for (int i = 0; i < kNumScheduleFeatures; i++) {
                f[i] = row.features[i];
            }
            costs.push_back(static_cast<float>(f.points_computed_total * 1e-6));
        }
        return costs;
    }
};

/// One of the pipelines by its name, with new Funcs each time.
struct ReductionPipeline {
    explicit ReductionPipeline(const std::string &name) {
        in.dim(0).set_estimate(0, 96000);
        size.set_estimate(96000);
        s() = 0;
        define(name);
        if (!output.defined()) {
            finish(s, {});
        }
    }

    void define(const std::string &name) {
        if (name == "sum") {
            s() += in(RDom(0, 96000));
        } else if (name == "sum of unknown length") {
            s() += in(RDom(0, size));
        } else if (name == "sum of rows") {
            RDom r(0, 300, 0, 320);
            s() += in(r.x + r.y * 300);
        } else if (name == "short sum") {
            s() += in(RDom(0, 1000));
        } else if (name == "not associative") {
            s() = s() * 3 + in(RDom(0, 96000));
        } else if (name == "two sums, one of them not associative") {
            s() += in(RDom(0, 96000));
            s() = s() * 3 + in(RDom(0, 95000));
            s() = max(s(), in(RDom(0, 94000)));
        } else if (name == "place of a maximum") {
            RDom r(0, 95001);
            s = Func("best");
            s() = Tuple(-1, -1);
            const Expr later = s()[0] <= in(r);
            s() = Tuple(select(later, in(r), s()[0]), select(later, r, s()[1]));
        } else if (name == "histogram") {
            s = Func("histogram");
            s(x) = 0;
            s(clamp(in(RDom(0, 96000)), 0, 63)) += 1;
            finish(s, {{0, 64}});
        } else if (name == "normalisation") {
            s() = max(s(), in(RDom(0, 96000)));
            Func out("out");
            out(x) = in(x)*100 / s();
            finish(out, {{0, 96000}});
        } else if (name == "many sums") {
            s = Func("sums");
            s(x) = 0;
            s(x) += in(RDom(0, 2000)) * x;
            finish(s, {{0, 256}});
        }
    }

    void finish(const Func &f, const Halide::Region &region) {
        output = f;
        output.set_estimates(region);
    }

    Functions outputs() const { return {output.function()}; }

    ImageParam in{Halide::Int(32), 1, "in"};
    Param<int> size{"size"};
    Var x{"x"};
    Func s{"s"}, output;
};

class Variants : public testing::Test {
protected:
    Variants() {
        options_.parallelism = 80;
        options_.beam_size = 1;
        options_.threads = 1;
        options_.progress = 0;
        device_.num_sms = 80;
    }

    VariantPtr choose(const ReductionPipeline &p, SearchMonitor &monitor) const {
        const VariantCriteria criteria{options_, device_, target()};
        PipelineVariants variants(p.outputs(), criteria);
        return choose_variant(
            variants,
            criteria,
            [](const PipelineGraph &) { return std::unique_ptr<CostModel>(new StepCounter()); },
            monitor);
    }
    VariantPtr choose(const ReductionPipeline &p) const {
        SearchMonitor monitor(options_);
        return choose(p, monitor);
    }

    size_t splits_of(const std::string &name) const {
        return choose(ReductionPipeline(name))->built.graph->splits.size();
    }

    /// Schedules the pipeline; returns the text.
    std::string schedule(const ReductionPipeline &p, bool apply) const {
        const VariantPtr variant = choose(p);
        const PipelineGraph &graph = *variant->built.graph;
        RegionStore store(graph);
        StepCounter model;
        const SearchResult found = search(graph, store, device_, options_, model);
        const ScheduleTrace trace = lower_schedule(*found.best, graph, device_);
        if (apply) {
            apply_trace(trace, graph, carry_out_variant(*variant, p.outputs()));
        }
        return print_trace(trace, graph);
    }

    std::string tree_of(const PipelineVariant &variant) const {
        const PipelineGraph &graph = *variant.built.graph;
        RegionStore store(graph);
        StepCounter model;
        return print_schedule(*search(graph, store, device_, options_, model).best, graph);
    }

    Options options_;
    GpuDevice device_;
};

}  // namespace test
}  // namespace anderson2021
