// Schedule trees for tests: written as text, or tiled step by step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "schedule/loop_nest_editor.h"

namespace anderson2021 {
namespace test {

/// A graph with everything needed to make trees of it.
struct Pipeline {
    explicit Pipeline(PipelineGraph g) : graph(std::move(g)), store(graph), editor(store) {}
    Pipeline(const Pipeline &) = delete;
    Pipeline &operator=(const Pipeline &) = delete;

    /// The tree with that text form; `realize:` lines, `c` and `t` marks may be left out, and so
    /// may Funcs.
    LoopNestPtr tree(const std::string &text) const;
    /// `root` with `func` placed at the root (vector dimension `vector_dim`).
    LoopNestPtr place_at_root(const LoopNestPtr &root, int func, int vector_dim = 0) const;
    /// `root` with the untiled nests of `func` split into blocks, threads and serial tiles; sizes
    /// per dimension of the Func.
    LoopNestPtr tile_at_root(const LoopNestPtr &root,
                             int func,
                             const std::vector<int64_t> &serial,
                             const std::vector<int64_t> &threads) const;

    const PipelineGraph graph;
    mutable RegionStore store;
    const LoopNestEditor editor;
};

/// First nest of that stage with that label in preorder, or null.
const LoopNest *find_nest(const LoopNest &root, int stage_id, GpuAxis axis);

/// Trees of mat_mul_graph(1024): everything at the root, `prod` in the block of `out`, `prod` in
/// the threads of `out`.
extern const char *const kMatMulAtRoot;
extern const char *const kMatMulInBlock;
extern const char *const kMatMulInThread;

/// Tree of harris_graph(): three Funcs in the block, two in the threads, six inlined.
extern const char *const kHarrisFused;

}  // namespace test
}  // namespace anderson2021
