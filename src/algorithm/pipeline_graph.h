// The graph of Funcs, stages and edges that the search works on: everything it has to know about
// the algorithm, distilled from the user's pipeline once, and free of compiler types.
//
// Orders matter throughout. Funcs go from outputs to inputs: a Func comes after all of its
// consumers. Stages are numbered consecutively in Func order, pure stage first. Incoming edges of
// a stage are sorted by producer name; outgoing edges of a Func by (consumer Func, stage).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/access_jacobian.h"
#include "algorithm/bound_expr.h"
#include "algorithm/branching.h"
#include "algorithm/reduction_split.h"
#include "support/bit_set.h"
#include "support/span.h"

namespace anderson2021 {

constexpr int kNumAlgorithmFeatures = 287;

/// One loop of a stage's default loop nest.
struct LoopDim {
    /// Where the span of the loop comes from, given the region computed of the Func.
    enum class Source { ComputedDim, Constant, Expression };

    std::string var;
    /// A pure Var, or an RVar whose iterations are independent.
    bool pure = false;
    bool rvar = false;
    /// Index of the Func's argument with this name; -1 for RVars.
    int pure_dim = -1;
    /// Position in the stage's dims() before any scheduling.
    int dims_index = 0;

    Source source = Source::ComputedDim;
    int computed_dim = 0;
    Span constant_span;
    /// Source::Expression: ends over the region computed.
    BoundExpr min_expr, max_expr;
};

/// One dimension of a region computed, given the region required.
struct ComputedDim {
    enum class Kind { EqualsRequired, UnionWithConstants, Expression };

    Kind kind = Kind::EqualsRequired;
    int64_t union_min = 0, union_max = 0;
    /// Kind::Expression: ends over the region required (all dimensions).
    BoundExpr min_expr, max_expr;
};

struct EdgeBound {
    BoundExpr min, max;
};

/// "Stage `consumer_stage` reads Func `producer`". One per pair.
struct Edge {
    int id = -1;
    int producer = -1;
    int consumer_func = -1;
    /// Global stage id of the reader.
    int consumer_stage = -1;
    /// Per producer dimension: footprint over the consumer's loops.
    std::vector<EdgeBound> bounds;
    /// Calls in the stored definition of the consumer stage.
    int64_t calls = 0;
    /// Distinct access matrices in order of first occurrence; may be empty.
    std::vector<AccessJacobian> load_jacobians;

    bool all_load_jacobians_exist() const {
        for (const AccessJacobian &j : load_jacobians) {
            if (!j.all_exist()) {
                return false;
            }
        }
        return true;
    }
};

/// A variant of a stage for runs in which a condition holds (Stage::specialize).
struct SpecializedDefinition {
    /// Positions among the specializations: of the stage's own, then of that one's, and so on.
    std::vector<int> path;
    /// As in StageNode.
    bool ends_in_failure = false;
};

/// One definition of a Func: stage 0 is the pure one, stage k its update k-1.
struct StageNode {
    /// Global id, consecutive over the graph.
    int id = -1;
    int func = -1;
    int index = 0;
    /// `f` or `f.update(k)`.
    std::string name;
    /// Innermost first.
    std::vector<LoopDim> loops;
    std::array<int32_t, kNumAlgorithmFeatures> features{};
    /// Of the left-hand side. Absent for extern definitions; without rows for 0-dimensional Funcs.
    std::optional<AccessJacobian> store_jacobian;
    /// Edge ids, sorted by producer name.
    std::vector<int> incoming_edges;
    /// Ids of all Funcs upstream of this stage; never its own.
    BitSet upstream;
    /// Reads an input Func or a concrete image (decides on loop tails).
    bool reads_input = false;
    /// Scheduling calls have been made before, be it a reorder or a split reduction.
    bool is_touched = false;
    /// Variants that the user's directives make; they get the same schedule.
    std::vector<SpecializedDefinition> specialized;
    /// What no variant is for is an error (Stage::specialize_fail).
    bool ends_in_failure = false;

    bool has_reduction() const {
        for (const LoopDim &l : loops) {
            if (l.rvar) {
                return true;
            }
        }
        return false;
    }
};

/// One Func, inputs included.
struct FuncNode {
    int id = -1;
    std::string name;
    std::vector<std::string> args;
    /// Bytes of one point, summed over tuple elements.
    int64_t bytes_per_point = 0;
    std::vector<StageNode> stages;
    std::vector<ComputedDim> computed;
    /// Outputs only: the estimated region, one span per dimension.
    std::vector<Span> estimate;
    /// Edge ids, sorted by (consumer Func, consumer stage).
    std::vector<int> outgoing_edges;

    bool is_output = false;
    bool is_input = false;
    bool is_wrapper = false;
    bool is_pointwise = false;
    bool is_boundary_condition = false;
    /// Halide calls the body trivial: always worth inlining.
    bool is_trivial_to_inline = false;
    /// Has an extern definition: scheduled at the root and never fused.
    bool is_extern = false;
    /// An extern definition reads it, from a buffer: it is computed at the root, too.
    bool feeds_extern = false;
    /// The user's directives need a buffer in global memory (memoize, for one).
    bool has_own_buffer = false;
    /// The user has chosen the order of its storage.
    bool keeps_storage = false;
    /// The user's directives replace calls of this Func by calls of others (Func::in)...
    bool has_wrappers = false;
    /// ... which have its id here, and, unless it is about all calls, that of one of those whose
    /// calls are replaced.
    int wrapped_func = -1;
    int wrapped_in = -1;
    /// Holds partial results of a reduction, which would be in one thread again elsewhere.
    bool is_partial_result = false;

    /// Has to have a buffer of its own.
    bool needs_root() const {
        return is_output || is_extern || feeds_extern || has_own_buffer || is_partial_result;
    }

    int dims() const { return static_cast<int>(args.size()); }
    int num_stages() const { return static_cast<int>(stages.size()); }

    /// Offsets into the flat span array of a FuncRegion: required first, then computed, then loops
    /// stage by stage. Filled by PipelineGraph::finish.
    int computed_offset = 0;
    std::vector<int> loops_offset;
    int num_spans = 0;
};

/// Deeply const after finish(); nodes keep their addresses.
class PipelineGraph {
public:
    std::vector<FuncNode> funcs;
    std::vector<Edge> edges;
    /// Per Func id.
    std::vector<BranchingForm> branching;
    /// What makes this pipeline out of the user's, in order; see add_split.
    std::vector<ReductionSplit> splits;
    /// With splits or wrappers: per Func id the position among the Funcs of the user's pipeline,
    /// producers first; -1 for those that splits and Func::in make.
    std::vector<int> pipeline_index;

    int num_funcs() const { return static_cast<int>(funcs.size()); }
    int num_stages() const { return static_cast<int>(stage_index_.size()); }
    int num_non_input_funcs() const { return num_non_input_funcs_; }

    const FuncNode &func(int id) const { return funcs[static_cast<size_t>(id)]; }
    const Edge &edge(int id) const { return edges[static_cast<size_t>(id)]; }
    const StageNode &stage(int stage_id) const {
        const auto &at = stage_index_[static_cast<size_t>(stage_id)];
        return funcs[static_cast<size_t>(at.first)].stages[static_cast<size_t>(at.second)];
    }
    /// Id of the Func with that name, or -1.
    int find_func(const std::string &name) const;
    /// Stage ids in the order of network rows and feature records: Funcs in graph order without
    /// inputs, the stages of a Func from the last update to the pure one.
    const std::vector<int> &record_order() const { return record_order_; }

    /// Call once, when funcs, their stages (loops, names) and edges (producer, consumer, bounds)
    /// are filled in: assigns stage ids, links and sorts edges, derives upstream sets, offsets,
    /// reads_input and the record order. Throws InternalError if an id or an extent is out of
    /// range.
    void finish();

    /// After finish(): notes one more split that was made, after those noted before. Its
    /// intermediate Func gets a name that is the same in every process.
    void add_split(ReductionSplit split);
    int index_in_pipeline(int func_id) const {
        return pipeline_index.empty() ? num_funcs() - 1 - func_id
                                      : pipeline_index[static_cast<size_t>(func_id)];
    }

private:
    std::vector<std::pair<int, int>> stage_index_;
    std::vector<int> record_order_;
    int num_non_input_funcs_ = 0;
};

}  // namespace anderson2021
