// Regions of all Funcs at a nest, computed on demand and remembered.
//
// What a Func has to provide at a nest depends only on the graph, on the stage that the nest
// belongs to and on the spans of that stage's loops there; so nests with equal loops share one
// NestRegions, whatever else differs between the schedules that contain them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "schedule/func_region.h"

namespace anderson2021 {

/// Regions at one nest (or at the root) for one representative iteration. Logically const: asking
/// for a region may compute and keep it, in a way that is safe from any thread and does not depend
/// on who asks first.
class NestRegions {
public:
    /// At the root: outputs have their estimated regions.
    explicit NestRegions(const PipelineGraph &graph);
    /// At a nest of stage `stage_id`; `own` are the regions of the stage's Func there.
    NestRegions(const PipelineGraph &graph, int stage_id, FuncRegion own);
    ~NestRegions();
    NestRegions(const NestRegions &) = delete;
    NestRegions &operator=(const NestRegions &) = delete;

    bool is_root() const { return stage_id_ < 0; }
    int stage_id() const { return stage_id_; }
    /// The stage's own Func, at a nest.
    const FuncRegion &own() const { return own_; }
    /// Region of any Func that the stage (or the root) can reach through consumers. At a nest only
    /// edges that lead to this stage count: those into it, and those into Funcs upstream of it.
    const FuncRegion &of(int func) const;
    /// Regions of the last producer of `chain` along that chain of edges alone. chain[0].consumer
    /// must be this nest's stage.
    FuncRegion along_chain(const std::vector<int> &chain) const;
    /// Approximate heap bytes held.
    size_t bytes() const;

private:
    const FuncRegion &of_listed(int func) const;
    FuncRegion compute(int func) const;

    const PipelineGraph &graph_;
    int stage_id_ = -1;
    FuncRegion own_;
    struct Node {
        FuncRegion region;
        const Node *next = nullptr;
    };
    // The root knows every Func sooner or later: one slot per Func, null while it is not known. A
    // nest knows a few: short lists, by id. All grow by compare-and-swap and are freed by the
    // destructor.
    static constexpr size_t kNumLists = 4;
    mutable std::vector<std::atomic<const FuncRegion *>> slots_;
    mutable std::array<std::atomic<const Node *>, kNumLists> lists_{};
};

using NestRegionsPtr = std::shared_ptr<const NestRegions>;

/// Interns NestRegions by (stage, own spans). Thread-safe; lives as long as a search.
class RegionStore {
public:
    explicit RegionStore(const PipelineGraph &graph);
    ~RegionStore();
    RegionStore(const RegionStore &) = delete;
    RegionStore &operator=(const RegionStore &) = delete;

    const PipelineGraph &graph() const { return graph_; }
    const NestRegionsPtr &root() const { return root_; }
    NestRegionsPtr at(int stage_id, FuncRegion own);
    /// Forgets every entry that no nest holds any more.
    void trim();

private:
    struct Impl;
    const PipelineGraph &graph_;
    NestRegionsPtr root_;
    std::unique_ptr<Impl> impl_;
};

}  // namespace anderson2021
