// Shorthands for tests that build a graph out of a small pipeline. Funcs get unique names, so tests
// find them by handle.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "Halide.h"

#include "algorithm/algorithm_features.h"
#include "frontend/graph_builder.h"

namespace anderson2021 {
namespace test {

inline Halide::Target gpu_target() {
    return Halide::Target("x86-64-linux-sse41-avx-avx2-cuda-cuda_capability_70");
}

class Built {
public:
    explicit Built(const std::vector<Halide::Func> &outputs,
                   const Halide::Target &target = gpu_target()) {
        std::vector<Halide::Internal::Function> functions;
        for (const Halide::Func &f : outputs) {
            functions.push_back(f.function());
        }
        built_ = build_graph(functions, target);
    }

    const PipelineGraph &graph() const { return *built_.graph; }
    const std::vector<Halide::Internal::Function> &functions() const { return built_.functions; }

    const FuncNode &node(const std::string &name) const {
        return graph().func(graph().find_func(name));
    }
    const FuncNode &node(const Halide::Func &f) const { return node(f.name()); }
    const StageNode &stage(const Halide::Func &f, int index = 0) const {
        return node(f).stages.at(static_cast<size_t>(index));
    }
    /// The edge between a producer and a stage of a consumer; fails if there is none.
    const Edge &
    edge(const Halide::Func &producer, const Halide::Func &consumer, int stage_index = 0) const {
        for (const int e : stage(consumer, stage_index).incoming_edges) {
            if (graph().func(graph().edge(e).producer).name == producer.name()) {
                return graph().edge(e);
            }
        }
        throw std::runtime_error("no edge");
    }
    bool has_edge(const Halide::Func &producer,
                  const Halide::Func &consumer,
                  int stage_index = 0) const {
        for (const int e : stage(consumer, stage_index).incoming_edges) {
            if (graph().func(graph().edge(e).producer).name == producer.name()) {
                return true;
            }
        }
        return false;
    }

private:
    BuiltGraph built_;
};

inline Halide::Func &estimate(Halide::Func &f, const std::vector<int> &extents) {
    Halide::Region region;
    for (const int e : extents) {
        region.emplace_back(0, e);
    }
    f.set_estimates(region);
    return f;
}

inline Halide::ImageParam
image(const Halide::Type &t, const std::string &name, const std::vector<int> &extents) {
    Halide::ImageParam p(t, static_cast<int>(extents.size()), name);
    for (size_t i = 0; i < extents.size(); i++) {
        p.dim(static_cast<int>(i)).set_estimate(0, extents[i]);
    }
    return p;
}

/// The features that are not zero, by index.
inline std::map<size_t, int> nonzero_features(const StageNode &stage) {
    std::map<size_t, int> result;
    for (size_t i = 0; i < stage.features.size(); i++) {
        if (stage.features[i] != 0) {
            result[i] = stage.features[i];
        }
    }
    return result;
}

inline int ops(const StageNode &stage, OpClass op, ScalarClass type) {
    return stage.features[op_index(op, type)];
}

/// Message of the UserError that building the graph of `outputs` throws; empty if there is none.
std::string user_error_of(const std::vector<Halide::Func> &outputs);

/// A matrix as rows of "n/d" or "_", e.g. "1 0; 0 1/2".
std::string matrix_text(const AccessJacobian &j);

}  // namespace test
}  // namespace anderson2021
