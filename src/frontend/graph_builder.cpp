#include "frontend/graph_builder.h"

#include <algorithm>
#include <utility>

#include "frontend/back_end_check.h"
#include "frontend/branching_form.h"
#include "frontend/estimates.h"
#include "frontend/expression_scan.h"
#include "frontend/footprints.h"
#include "frontend/func_domain.h"
#include "frontend/schedule_check.h"
#include "frontend/stage_features.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

using Halide::Expr;
using Halide::Internal::Definition;
using Halide::Internal::Function;

namespace {

const Definition &definition_of(const Function &f, int stage) {
    return stage == 0 ? f.definition() : f.update(stage - 1);
}

std::string stage_name(const Function &f, int stage) {
    return stage == 0 ? f.name() : f.name() + ".update(" + std::to_string(stage - 1) + ")";
}

int64_t bytes_per_point(const Function &f) {
    int64_t bytes = 0;
    for (const Halide::Type &type : f.output_types()) {
        bytes += type.bytes();
    }
    return bytes;
}

// Funcs that start with this prefix clamp their coordinates to the edges of an image.
bool is_named_like_boundary_condition(const std::string &name) {
    return name.rfind("repeat_edge", 0) == 0;
}

// Lists what `def` is specialized to. True if it is an error that nothing of that holds.
bool add_specialized(const Definition &def,
                     const std::vector<int> &path,
                     std::vector<SpecializedDefinition> &found) {
    bool ends_in_failure = false;
    int position = 0;
    for (const Halide::Internal::Specialization &s : def.specializations()) {
        if (!s.failure_message.empty()) {
            ends_in_failure = true;
            continue;
        }
        SpecializedDefinition specialized;
        specialized.path = path;
        specialized.path.push_back(position++);
        const size_t at = found.size();
        found.push_back(specialized);
        found[at].ends_in_failure = add_specialized(s.definition, specialized.path, found);
    }
    return ends_in_failure;
}

void note_directives(const Function &f, FuncNode &node) {
    const Halide::Internal::FuncSchedule &s = f.schedule();
    node.has_own_buffer = s.memoized() || s.memory_type() != Halide::MemoryType::Auto;
    for (size_t i = 0; i < s.storage_dims().size(); i++) {
        node.keeps_storage = node.keeps_storage || s.storage_dims()[i].var != f.args()[i];
    }
}

// Steps: collect the Funcs from outputs to inputs; per Func, analyse its definitions one by one;
// link everything.
class GraphBuilder {
public:
    explicit GraphBuilder(const std::vector<Function> &outputs) : outputs_(outputs) {}

    BuiltGraph build() {
        collect_funcs();
        collect_value_bounds();
        result_.graph = std::make_unique<PipelineGraph>();
        std::vector<BranchingForm> branching;
        for (const Function &f : functions_) {
            add_func(f);
            branching.push_back(branching_form(f, facts_.func_ids));
        }
        if (wraps_) {
            link_wrappers();
        }
        result_.graph->finish();
        result_.graph->branching = std::move(branching);
        return std::move(result_);
    }

private:
    void collect_funcs() {
        if (outputs_.empty()) {
            throw UserError("The pipeline has no output. Define at least one output Func before "
                            "autoscheduling.");
        }
        const auto originals = Halide::Internal::build_environment(outputs_);
        in_pipeline_ = Halide::Internal::topological_order(outputs_, originals);
        facts_.env = originals;
        wrap_calls();
        producers_first_ = Halide::Internal::topological_order(outputs_, facts_.env);
        for (auto name = producers_first_.rbegin(); name != producers_first_.rend(); ++name) {
            const Function &f = originals.at(*name);
            require_unscheduled(f);
            facts_.func_ids[*name] = static_cast<int>(functions_.size());
            functions_.push_back(facts_.env.at(*name));
            result_.functions.push_back(f);
        }
    }

    // Calls go to the Funcs that the user's Func::in and clone_in put there only once the compiler
    // lowers the pipeline; here, in copies that do not outlive the analysis.
    void wrap_calls() {
        wraps_ = std::any_of(facts_.env.begin(), facts_.env.end(), [](const auto &f) {
            return !f.second.schedule().wrappers().empty();
        });
        if (wraps_) {
            auto copies = Halide::Internal::deep_copy(outputs_, facts_.env);
            outputs_ = std::move(copies.first);
            facts_.env = Halide::Internal::wrap_func_calls(copies.second);
        }
    }

    void link_wrappers() {
        PipelineGraph &graph = *result_.graph;
        for (const Function &f : result_.functions) {
            const int wrapped = facts_.func_ids.at(f.name());
            for (const auto &entry : f.schedule().wrappers()) {
                const auto wrapper = facts_.func_ids.find(Function(entry.second).name());
                const auto reader = facts_.func_ids.find(entry.first);
                const bool known = entry.first.empty() || reader != facts_.func_ids.end();
                if (wrapper == facts_.func_ids.end() || !known) {
                    continue;  // Nothing calls it.
                }
                FuncNode &node = graph.funcs[static_cast<size_t>(wrapper->second)];
                node.wrapped_func = wrapped;
                node.wrapped_in = entry.first.empty() ? -1 : reader->second;
                graph.funcs[static_cast<size_t>(wrapped)].has_wrappers = true;
            }
        }
        for (const Function &f : result_.functions) {
            const auto at = std::find(in_pipeline_.begin(), in_pipeline_.end(), f.name());
            graph.pipeline_index.push_back(
                at == in_pipeline_.end() ? -1 : static_cast<int>(at - in_pipeline_.begin()));
        }
    }

    void collect_value_bounds() {
        facts_.value_bounds =
            Halide::Internal::compute_function_value_bounds(producers_first_, facts_.env);
        facts_.estimated_value_bounds = substitute_estimates(facts_.value_bounds);
        for (const auto &entry : facts_.value_bounds) {
            const auto &range = entry.second;
            if ((range.has_lower_bound() && depends_on_estimate(range.min)) ||
                (range.has_upper_bound() && depends_on_estimate(range.max))) {
                facts_.estimated_values.insert(entry.first.first);
            }
        }
    }

    bool is_output(const Function &f) const {
        return std::any_of(outputs_.begin(), outputs_.end(), [&](const Function &output) {
            return output.same_as(f);
        });
    }

    void add_func(const Function &f) {
        FuncNode node;
        node.name = f.name();
        node.args = f.args();
        node.bytes_per_point = bytes_per_point(f);
        node.is_output = is_output(f);
        if (node.is_output) {
            node.estimate = estimated_region(f);
        }
        FuncDomain domain(f, facts_.value_bounds);
        const size_t first_edge = result_.graph->edges.size();
        bool own_coordinates = true;
        const int num_stages = 1 + static_cast<int>(f.updates().size());
        for (int s = 0; s < num_stages; s++) {
            const bool pointwise = add_stage(f, s, domain, node);
            own_coordinates = own_coordinates && pointwise;
        }
        node.computed = domain.computed();
        const bool pure = !f.has_update_definition();
        const bool reads_funcs = result_.graph->edges.size() > first_edge;
        node.is_extern = f.has_extern_definition();
        if (node.is_extern) {
            write_log("Warning: Func \"" + f.name() + "\" is defined by the external function \"" +
                      f.extern_function_name() +
                      "\". It and the Funcs that it reads are computed at the root; what it takes "
                      "is not known.\n");
            result_.graph->funcs.push_back(std::move(node));
            return;
        }
        note_directives(f, node);
        node.is_wrapper = f.is_wrapper() != nullptr;
        node.is_input = pure && node.is_wrapper && !reads_funcs;
        node.is_pointwise = pure && (!reads_funcs || own_coordinates);
        node.is_boundary_condition = pure && is_named_like_boundary_condition(f.name());
        node.is_trivial_to_inline = pure && Halide::Internal::is_func_trivial_to_inline(f);
        result_.graph->funcs.push_back(std::move(node));
    }

    // Returns whether the definition reads everything at its own coordinates.
    bool add_stage(const Function &f, int index, FuncDomain &domain, FuncNode &node) {
        const Definition &def = definition_of(f, index);
        StageNode stage;
        stage.id = num_stages_++;
        stage.index = index;
        stage.name = stage_name(f, index);
        stage.loops = domain.add_stage(def, stage.name);
        stage.is_touched = def.schedule().touched();
        stage.ends_in_failure = add_specialized(def, {}, stage.specialized);
        const Expr bundle = bundle_expressions(def);
        const ExpressionScan scan = scan_expressions(f, bundle);
        std::vector<Edge> edges =
            f.has_extern_definition()
                ? extern_edges(f, stage, facts_)
                : footprint_edges(StageSource{f, def, stage, domain}, bundle, scan, facts_);
        add_features(f, def, stage, edges);
        node.stages.push_back(std::move(stage));
        std::move(edges.begin(), edges.end(), std::back_inserter(result_.graph->edges));
        return scan.pointwise;
    }

    void add_features(const Function &f,
                      const Definition &def,
                      StageNode &stage,
                      std::vector<Edge> &edges) const {
        std::vector<std::string> loops;
        for (const LoopDim &l : stage.loops) {
            loops.push_back(l.var);
        }
        StageFeatures features = stage_features(f.name(), def, loops);
        stage.features = features.counts;
        stage.store_jacobian = std::move(features.store);
        for (Edge &e : edges) {
            const std::string &producer = functions_[static_cast<size_t>(e.producer)].name();
            const auto loads = features.loads.find(producer);
            if (loads != features.loads.end()) {
                e.load_jacobians = std::move(loads->second);
            }
        }
    }

    std::vector<Function> outputs_;
    /// Names, producers first: in the user's pipeline, and with wrappers.
    std::vector<std::string> in_pipeline_, producers_first_;
    bool wraps_ = false;
    /// Per Func id, what is analysed; result_ has the user's.
    std::vector<Function> functions_;
    PipelineFacts facts_;
    BuiltGraph result_;
    int num_stages_ = 0;
};

}  // namespace

BuiltGraph build_graph(const std::vector<Function> &outputs, const Halide::Target &target) {
    BuiltGraph built = GraphBuilder(outputs).build();
    require_types_of_back_end(built.functions, target);
    return built;
}

}  // namespace anderson2021
