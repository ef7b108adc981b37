// Trees for tests of the featurizer and of what builds on it: from text, or drawn at random.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "featurizer/featurizer.h"
#include "schedule/loop_nest_editor.h"

namespace anderson2021 {
namespace test {

/// A graph with everything that is needed to featurize its schedules.
class FeaturizerFixture {
public:
    explicit FeaturizerFixture(PipelineGraph graph,
                               int parallelism = 80,
                               bool reference_features = false);
    ~FeaturizerFixture();

    const PipelineGraph &graph() const { return graph_; }
    RegionStore &store() { return store_; }
    const GpuDevice &device() const { return device_; }
    const FeaturizerOptions &options() const { return options_; }
    const LoopNestEditor &editor() const { return editor_; }
    /// Checks every cached block.
    const Featurizer &featurizer() const { return *featurizer_; }

    /// The (partial) tree that a text shows, see schedule_parser.h.
    LoopNestPtr tree(const std::string &text) const;
    /// Features of that tree; throws InternalError if it has none.
    FeatureMatrix featurize(const std::string &text) const;
    /// Global id of a stage of a Func.
    int stage(const std::string &func, int index = 0) const;

private:
    PipelineGraph graph_;
    GpuDevice device_;
    FeaturizerOptions options_;
    RegionStore store_;
    LoopNestEditor editor_;
    std::unique_ptr<Featurizer> featurizer_;
};

/// Column and value.
using FeatureValues = std::vector<std::pair<int, double>>;

/// Columns and values of "0=1 3-5=256 72=3": a column or a range of columns with the same value.
FeatureValues parse_values(const std::string &text);

/// What is wrong with a row whose columns all have their defaults except for `values`; empty if
/// nothing is. Columns in `ignored` may be anything. Values are compared up to a relative error of
/// 1e-6, because expectations are written with six digits or more.
std::string compare_row(const ScheduleFeatures &row,
                        const FeatureValues &values,
                        const std::vector<int> &ignored = {});

/// Draws schedules of a graph: every Func but inputs is placed at the root (tiled or not yet),
/// fused into a nest of its consumers or inlined.
class RandomScheduler {
public:
    RandomScheduler(const LoopNestEditor &editor, uint64_t seed)
        : editor_(editor), graph_(editor.graph()), state_(seed * 2 + 1) {}

    /// One walk: the tree after every decision, the last one being complete except that some nests
    /// at the root may be untiled. With `leave_gaps` some Funcs are passed over, but not their
    /// producers, as with Funcs that were placed beforehand.
    std::vector<LoopNestPtr> walk(bool leave_gaps = false);

private:
    int64_t below(int64_t n);
    std::vector<int64_t> random_tile(int func, const std::vector<int64_t> &choices);
    LoopNestPtr place_at_root(const LoopNestPtr &root, int func);
    LoopNestPtr fuse(const LoopNestPtr &nest, int func, int vector_dim, bool in_thread);
    LoopNestPtr tiled(const LoopNestPtr &nest, const LoopNest &site);
    LoopNestPtr decide(const LoopNestPtr &root, const FuncNode &func);

    const LoopNestEditor &editor_;
    const PipelineGraph &graph_;
    uint64_t state_;
};

}  // namespace test
}  // namespace anderson2021
