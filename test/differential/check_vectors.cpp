// Compares the featurizer with recorded features, one schedule per line.
//
// usage: check_vectors [--time <repeats>] <file.jsonl> ...
//
// A line with "pipeline" describes a graph, the lines after it trees with the features that every
// stage is known to have. A graph line without "store_sets" was recorded with the store sets of the
// reference plugin. Prints what differs, counts per feature, and with --time how long a
// featurization takes; the exit status is 1 if anything differs.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bound_text.h"
#include "featurizer/featurizer.h"
#include "schedule/loop_nest_editor.h"
#include "support/error.h"

namespace anderson2021 {
namespace test {
namespace {

using Json = nlohmann::json;

// The recorded graphs have no expressions to compute it from.
constexpr int kBranchingFeature = 72;

Span make_span(const Json &j) {
    const bool constant = j.size() > 2 && j[2].get<int>() != 0;
    return {j[0], j[1], constant, constant};
}

AccessJacobian make_jacobian(const Json &j) {
    std::vector<Rational> entries;
    for (const Json &e : j.at("entries")) {
        entries.push_back({e[0], e[1]});
    }
    return AccessJacobian(j.at("rows"), j.at("cols"), entries, j.at("count"));
}

/// The two ends of every span of a Func's environment, named <Func>.<variable>.min and .max.
std::map<std::string, SpanEnd> span_ends(const std::string &func,
                                         const std::vector<std::string> &variables) {
    std::map<std::string, SpanEnd> ends;
    for (size_t i = 0; i < variables.size(); i++) {
        ends[func + "." + variables[i] + ".min"] = {static_cast<int>(i), false};
        ends[func + "." + variables[i] + ".max"] = {static_cast<int>(i), true};
    }
    return ends;
}

BoundExpr make_bound(const Json &j, const std::map<std::string, SpanEnd> &ends) {
    if (j.is_string()) {
        return parse_bound(j, ends);
    }
    if (j.contains("const")) {
        return BoundExpr::constant(j.at("const"));
    }
    return BoundExpr::affine(j.at("loop"), j.at("end") == "max", j.at("coeff"), j.at("add"));
}

ComputedDim make_computed_dim(const Json &j, const std::map<std::string, SpanEnd> &ends) {
    ComputedDim d;
    if (j.is_string()) {
        return d;
    }
    if (j.contains("union_with")) {
        d.kind = ComputedDim::Kind::UnionWithConstants;
        d.union_min = j.at("union_with")[0];
        d.union_max = j.at("union_with")[1];
    } else {
        d.kind = ComputedDim::Kind::Expression;
        d.min_expr = make_bound(j.at("exprs")[0], ends);
        d.max_expr = make_bound(j.at("exprs")[1], ends);
    }
    return d;
}

LoopDim make_loop(const Json &j, const std::map<std::string, SpanEnd> &ends) {
    LoopDim l;
    l.var = j.at("var");
    l.pure = j.at("pure").get<int>() != 0;
    l.rvar = j.at("rvar").get<int>() != 0;
    l.pure_dim = j.at("pure_dim");
    const Json &span = j.at("span");
    if (span.contains("computed_dim")) {
        l.source = LoopDim::Source::ComputedDim;
        l.computed_dim = span.at("computed_dim");
    } else if (span.contains("const")) {
        l.source = LoopDim::Source::Constant;
        l.constant_span = make_span(span.at("const"));
        l.constant_span.constant = l.constant_span.exact = true;
    } else {
        l.source = LoopDim::Source::Expression;
        l.min_expr = make_bound(span.at("exprs")[0], ends);
        l.max_expr = make_bound(span.at("exprs")[1], ends);
    }
    return l;
}

FuncNode make_func(const Json &j) {
    FuncNode f;
    f.name = j.at("name");
    f.args = j.at("args").get<std::vector<std::string>>();
    f.bytes_per_point = j.at("bytes_per_point");
    f.is_input = j.at("is_input").get<int>() != 0;
    f.is_output = j.at("is_output").get<int>() != 0;
    const auto ends = span_ends(f.name, f.args);
    for (const Json &c : j.at("computed")) {
        f.computed.push_back(make_computed_dim(c, ends));
    }
    for (const Json &e : j.at("estimate")) {
        f.estimate.push_back(make_span(e));
    }
    for (const Json &s : j.at("stages")) {
        StageNode stage;
        stage.name = f.name + (f.stages.empty() ? "" : ".update");
        for (const Json &l : s.at("loops")) {
            stage.loops.push_back(make_loop(l, ends));
        }
        stage.store_jacobian = make_jacobian(s.at("store_jacobian"));
        f.stages.push_back(std::move(stage));
    }
    return f;
}

std::vector<std::string> loop_names(const StageNode &stage) {
    std::vector<std::string> names;
    for (const LoopDim &l : stage.loops) {
        names.push_back(l.var);
    }
    return names;
}

std::unique_ptr<PipelineGraph> make_graph(const Json &j) {
    auto graph = std::make_unique<PipelineGraph>();
    for (const Json &n : j.at("nodes")) {
        graph->funcs.push_back(make_func(n));
        // Expressions are not recorded: constants in their place.
        graph->branching.emplace_back();
    }
    for (size_t f = 0; f < graph->funcs.size(); f++) {
        FuncNode &func = graph->funcs[f];
        func.id = static_cast<int>(f);
        for (size_t s = 0; s < func.stages.size(); s++) {
            func.stages[s].func = func.id;
            func.stages[s].index = static_cast<int>(s);
            func.stages[s].id = j.at("nodes")[f].at("stages")[s].at("id");
        }
    }
    for (const Json &e : j.at("edges")) {
        Edge edge;
        edge.id = static_cast<int>(graph->edges.size());
        edge.producer = e.at("producer");
        edge.consumer_func = e.at("consumer_node");
        const FuncNode &consumer = graph->funcs[e.at("consumer_node").get<size_t>()];
        const StageNode &stage = consumer.stages[e.at("consumer_stage").get<size_t>()];
        edge.consumer_stage = stage.id;
        edge.calls = e.at("calls");
        const auto ends = span_ends(consumer.name, loop_names(stage));
        for (const Json &d : e.at("footprint")) {
            edge.bounds.push_back({make_bound(d[0], ends), make_bound(d[1], ends)});
        }
        for (const Json &m : e.at("load_jacobians")) {
            edge.load_jacobians.push_back(make_jacobian(m));
        }
        graph->edges.push_back(std::move(edge));
    }
    graph->finish();
    return graph;
}

GpuAxis parse_axis(const std::string &name) {
    for (const GpuAxis axis : {GpuAxis::None,
                               GpuAxis::Parallelized,
                               GpuAxis::Block,
                               GpuAxis::Thread,
                               GpuAxis::Serial,
                               GpuAxis::Simd}) {
        if (name == gpu_axis_name(axis)) {
            return axis;
        }
    }
    throw UserError("unknown label " + name);
}

/// @param above  regions at the parent
LoopNestPtr make_nest(RegionStore &store, const Json &j, const NestRegions &above) {
    const PipelineGraph &graph = store.graph();
    LoopNestData data;
    if (!j.contains("node")) {
        data.regions = store.root();
    } else {
        data.func = j.at("node");
        data.stage_index = j.at("stage");
        const StageNode &stage =
            graph.func(data.func).stages[static_cast<size_t>(data.stage_index)];
        data.stage_id = stage.id;
        data.size = j.at("size").get<std::vector<int64_t>>();
        data.innermost = j.value("innermost", 0) != 0;
        data.parallel = j.value("parallel", 0) != 0;
        data.axis = parse_axis(j.at("label"));
        data.vector_dim = j.at("vector_dim");
        data.lane_loop = j.at("lane_loop");
        for (const Json &c : j.value("inlined", Json::array())) {
            data.inlined.push_back({c[0], c[1]});
        }
        FuncRegion own = above.of(data.func);
        const Json &loops = j.at("own_loops");
        for (size_t i = 0; i < loops.size(); i++) {
            own.loop(data.stage_index, static_cast<int>(i)) = make_span(loops[i]);
        }
        data.regions = store.at(stage.id, std::move(own));
    }
    for (const Json &c : j.value("children", Json::array())) {
        data.children.push_back(make_nest(store, c, *data.regions));
    }
    return LoopNest::publish(graph, std::move(data));
}

class Checker {
public:
    explicit Checker(int time_repeats) : time_repeats_(time_repeats) {}

    void check_file(const std::string &path) {
        std::ifstream file(path);
        if (!file) {
            throw UserError("cannot read " + path);
        }
        std::string line;
        for (int number = 1; std::getline(file, line); number++) {
            const Json j = Json::parse(line);
            if (j.contains("pipeline")) {
                start_graph(j);
            } else {
                check_state(j, path + ":" + std::to_string(number));
            }
        }
        finish_graph();
    }

    /// True if nothing differed.
    bool report() const {
        std::printf("%lld schedules, %lld numbers, %lld differences\n",
                    static_cast<long long>(states_),
                    static_cast<long long>(numbers_),
                    static_cast<long long>(differences_));
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            if (mismatches_[static_cast<size_t>(i)] > 0) {
                std::printf("  feature %2d %-45s %lld\n",
                            i,
                            schedule_feature_name(i),
                            static_cast<long long>(mismatches_[static_cast<size_t>(i)]));
            }
        }
        return differences_ == 0;
    }

private:
    void start_graph(const Json &j) {
        finish_graph();
        name_ = j.at("pipeline");
        featurizer_.reset();
        roots_.clear();
        store_.reset();
        graph_ = make_graph(j);
        store_ = std::make_unique<RegionStore>(*graph_);
        const Json &p = j.at("parameters");
        device_ = GpuDevice();
        device_.shared_bytes_per_block = p.at("shared_memory_limit_kb").get<int64_t>() * 1024;
        device_.shared_bytes_per_sm = p.at("shared_memory_sm_limit_kb").get<int64_t>() * 1024;
        device_.max_blocks_per_sm = p.at("active_block_limit");
        device_.max_warps_per_sm = p.at("active_warp_limit");
        options_ = FeaturizerOptions();
        options_.parallelism = p.at("parallelism");
        options_.reference_features = !j.contains("store_sets");
        options_.verify_cache = true;
        featurizer_ = std::make_unique<Featurizer>(*graph_, *store_, device_, options_);
    }

    void check_state(const Json &j, const std::string &where) {
        const LoopNestPtr root = make_nest(*store_, j.at("nest"), *store_->root());
        roots_.push_back(root);
        states_++;
        const Featurization ours = featurizer_->featurize(root);
        // Once more from the cache, which compares with a fresh evaluation.
        featurizer_->featurize(root);
        if (ours.unpromotable_func) {
            std::printf("%s: Func %s cannot be promoted\n",
                        where.c_str(),
                        graph_->func(*ours.unpromotable_func).name.c_str());
            differences_++;
            return;
        }
        int rows = 0;
        for (int stage = 0; stage < graph_->num_stages(); stage++) {
            rows += ours.features.has(stage) ? 1 : 0;
        }
        if (rows != static_cast<int>(j.at("features").size())) {
            std::printf(
                "%s: %d rows instead of %zu\n", where.c_str(), rows, j.at("features").size());
            differences_++;
        }
        for (const auto &item : j.at("features").items()) {
            check_row(item.value(), std::stoi(item.key()), ours.features, where);
        }
    }

    void check_row(const Json &expected,
                   int stage,
                   const FeatureMatrix &ours,
                   const std::string &where) {
        if (!ours.has(stage)) {
            std::printf("%s: no features for stage %d\n", where.c_str(), stage);
            differences_++;
            return;
        }
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            if (i == kBranchingFeature) {
                continue;
            }
            numbers_++;
            const double theirs = expected[static_cast<size_t>(i)];
            const double value = ours.row(stage)[i];
            if (static_cast<float>(theirs) != static_cast<float>(value)) {
                differences_++;
                if (mismatches_[static_cast<size_t>(i)]++ < 5) {
                    std::printf("%s: %s stage %d, feature %d %s: %.9g, expected %.9g\n",
                                where.c_str(),
                                name_.c_str(),
                                stage,
                                i,
                                schedule_feature_name(i),
                                value,
                                theirs);
                }
            }
        }
    }

    /// Prints how long the schedules of the current graph take, known ones and new ones.
    void finish_graph() {
        if (time_repeats_ == 0 || roots_.empty()) {
            return;
        }
        FeaturizerOptions options = options_;
        options.verify_cache = false;
        const Featurizer cached(*graph_, *store_, device_, options);
        const auto run = [&](const Featurizer &featurizer) {
            // Processor time: other programs must not count.
            const std::clock_t begin = std::clock();
            for (const LoopNestPtr &root : roots_) {
                featurizer.featurize(root);
            }
            return static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC /
                   static_cast<double>(roots_.size());
        };
        double fresh = 0;
        double known = 0;
        run(cached);
        for (int i = 0; i < time_repeats_; i++) {
            fresh += run(Featurizer(*graph_, *store_, device_, options)) / time_repeats_;
            known += run(cached) / time_repeats_;
        }
        std::printf(
            "%-16s %zu schedules: %.1f us each when new, %.1f us when all blocks are known\n",
            name_.c_str(),
            roots_.size(),
            fresh,
            known);
        roots_.clear();
    }

    const int time_repeats_;
    std::string name_;
    std::unique_ptr<PipelineGraph> graph_;
    std::unique_ptr<RegionStore> store_;
    GpuDevice device_;
    FeaturizerOptions options_;
    std::unique_ptr<Featurizer> featurizer_;
    std::vector<LoopNestPtr> roots_;
    int64_t states_ = 0;
    int64_t numbers_ = 0;
    int64_t differences_ = 0;
    std::array<int64_t, kNumScheduleFeatures> mismatches_{};
};

int run(const std::vector<std::string> &args) {
    size_t first = 0;
    int repeats = 0;
    if (args.size() >= 2 && args[0] == "--time") {
        repeats = std::stoi(args[1]);
        first = 2;
    }
    if (first == args.size()) {
        std::fprintf(stderr, "usage: check_vectors [--time <repeats>] <file.jsonl> ...\n");
        return 2;
    }
    Checker checker(repeats);
    for (size_t i = first; i < args.size(); i++) {
        checker.check_file(args[i]);
    }
    return checker.report() ? 0 : 1;
}

}  // namespace
}  // namespace test
}  // namespace anderson2021

int main(int argc, char **argv) {
    try {
        return anderson2021::test::run({argv + 1, argv + argc});
    } catch (const std::exception &e) {
        std::fprintf(stderr, "check_vectors: %s\n", e.what());
        return 2;
    }
}
