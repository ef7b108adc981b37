#include "algorithm/pipeline_graph.h"

#include <algorithm>
#include <utility>

#include "algorithm/algorithm_features.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

static_assert(kAlgorithmFeatureCount == kNumAlgorithmFeatures);

void assign_offsets(FuncNode &f) {
    f.computed_offset = f.dims();
    int offset = 2 * f.dims();
    f.loops_offset.clear();
    for (const StageNode &s : f.stages) {
        f.loops_offset.push_back(offset);
        offset += static_cast<int>(s.loops.size());
    }
    f.num_spans = offset;
}

}  // namespace

int PipelineGraph::find_func(const std::string &name) const {
    for (const FuncNode &f : funcs) {
        if (f.name == name) {
            return f.id;
        }
    }
    return -1;
}

void PipelineGraph::add_split(ReductionSplit split) {
    FuncNode &f = funcs[static_cast<size_t>(split.intermediate)];
    const std::string stem = func(split.func).name + "_intm";
    f.name.clear();
    std::string name = stem;
    for (int i = 2; find_func(name) >= 0; i++) {
        name = stem + "_" + std::to_string(i);
    }
    f.name = name;
    for (StageNode &s : f.stages) {
        s.name = s.index == 0 ? name : name + ".update(" + std::to_string(s.index - 1) + ")";
    }
    f.is_partial_result = true;
    splits.push_back(std::move(split));
}

void PipelineGraph::finish() {
    stage_index_.clear();
    record_order_.clear();
    num_non_input_funcs_ = 0;
    for (size_t i = 0; i < funcs.size(); i++) {
        FuncNode &f = funcs[i];
        f.id = static_cast<int>(i);
        f.outgoing_edges.clear();
        assign_offsets(f);
        for (size_t s = 0; s < f.stages.size(); s++) {
            StageNode &stage = f.stages[s];
            stage.id = static_cast<int>(stage_index_.size());
            stage.func = f.id;
            stage.index = static_cast<int>(s);
            stage.incoming_edges.clear();
            stage_index_.emplace_back(f.id, stage.index);
        }
        if (!f.is_input) {
            num_non_input_funcs_++;
            for (auto s = f.stages.rbegin(); s != f.stages.rend(); ++s) {
                record_order_.push_back(s->id);
            }
        }
    }
    for (size_t i = 0; i < edges.size(); i++) {
        Edge &e = edges[i];
        e.id = static_cast<int>(i);
        ANDERSON_CHECK(e.producer >= 0 && e.producer < num_funcs()) << "Edge without producer";
        ANDERSON_CHECK(e.consumer_stage >= 0 && e.consumer_stage < num_stages())
            << "Edge without consumer";
        const auto &at = stage_index_[static_cast<size_t>(e.consumer_stage)];
        e.consumer_func = at.first;
        if (func(at.first).is_extern) {
            funcs[static_cast<size_t>(e.producer)].feeds_extern = true;
        }
        funcs[static_cast<size_t>(at.first)]
            .stages[static_cast<size_t>(at.second)]
            .incoming_edges.push_back(e.id);
    }
    for (FuncNode &f : funcs) {
        for (StageNode &s : f.stages) {
            std::stable_sort(s.incoming_edges.begin(), s.incoming_edges.end(), [&](int a, int b) {
                return func(edge(a).producer).name < func(edge(b).producer).name;
            });
            for (const int e : s.incoming_edges) {
                funcs[static_cast<size_t>(edge(e).producer)].outgoing_edges.push_back(e);
            }
        }
    }
    // Producers have larger ids, so a backward sweep sees them complete.
    for (auto f = funcs.rbegin(); f != funcs.rend(); ++f) {
        for (StageNode &s : f->stages) {
            s.upstream = BitSet(num_funcs());
            s.reads_input = false;
            for (size_t t = 0; t < kNumScalarClasses; t++) {
                const size_t image_calls =
                    op_index(OpClass::ImageCall, static_cast<ScalarClass>(t));
                s.reads_input = s.reads_input || s.features[image_calls] > 0;
            }
            for (const int e : s.incoming_edges) {
                const FuncNode &producer = func(edge(e).producer);
                ANDERSON_CHECK(producer.id > f->id) << producer.name << " is read by " << f->name;
                s.reads_input = s.reads_input || producer.is_input;
                s.upstream.insert(producer.id);
                for (const StageNode &p : producer.stages) {
                    s.upstream.insert(p.upstream);
                }
            }
        }
    }
    branching.resize(funcs.size());
}

}  // namespace anderson2021
