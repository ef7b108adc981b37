#include "plugin/run_record.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "anderson2021/version.h"
#include "costmodel/file_bytes.h"
#include "costmodel/plain_cost_model.h"
#include "plugin/report.h"
#include "pruning/register_pressure.h"
#include "schedule/schedule_text.h"
#include "schedule/unknown_sizes.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

using Json = nlohmann::ordered_json;

// What a coefficient of the network stands for.
struct Term {
    const char *group;
    const char *what;
};

constexpr double kMsPerPicosecond = 1e-9;

constexpr std::array<Term, kConv1Channels> kTerms{{
    {"load", "register bytes read per thread"},
    {"compute", "points computed"},
    {"load", "register lines read per thread"},
    {"compute", "points computed inlined"},
    {"compute", "points computed inlined, by threads"},
    {"load", "global lines read per realization"},
    {"load", "global bytes read per realization"},
    {"load", "register bytes read per realization"},
    {"load", "register lines read per realization"},
    {"working set", "bytes in use"},
    {"load", "bytes read per point"},
    {"load", "shared bytes read per thread"},
    {"load", "lines read per point"},
    {"load", "global bytes read per thread"},
    {"load", "bytes read per task"},
    {"load", "lines read per task"},
    {"load", "shared lines read per realization"},
    {"load", "shared lines read per thread"},
    {"load", "global lines read per thread"},
    {"compute", "points computed, by threads"},
    {"load", "shared bytes read per realization"},
    {"store", "global store transactions"},
    {"store", "false sharing of lines"},
    {nullptr, nullptr},
    {"overhead", "allocations"},
    {"overhead", "kernel launches"},
    {"overhead", "tasks"},
    {"load", "shared load transactions"},
    {"load", "global load transactions"},
    {"store", "shared store transactions"},
    {nullptr, nullptr},
    {nullptr, nullptr},
}};

Json options_json(const Options &options) {
    Json json;
#define ANDERSON_OPTION(type, name, default_value, min, max, environment, meaning)                 \
    json[#name] = options.name;
#include "support/options.def"
#undef ANDERSON_OPTION
    return json;
}

Json device_json(const GpuDevice &device) {
    return {{"name", device.name},
            {"multiprocessors", device.num_sms},
            {"blocks_per_multiprocessor", device.max_blocks_per_sm},
            {"warps_per_multiprocessor", device.max_warps_per_sm},
            {"shared_bytes_per_block", device.shared_bytes_per_block},
            {"shared_bytes_per_multiprocessor", device.shared_bytes_per_sm},
            {"registers_per_thread", device.registers_per_thread}};
}

Json progress_json(const SearchResult &found) {
    Json json = Json::array();
    for (const SearchProgress &p : found.progress) {
        json.push_back({{"step", p.step},
                        {"elapsed_ms", p.elapsed_ms},
                        {"best_cost_ms", p.best_cost},
                        {"states", p.states}});
    }
    return json;
}

Json tree_json(const LoopNest &nest, const PipelineGraph &graph) {
    Json json = Json::object();
    if (!nest.is_root()) {
        json["func"] = graph.func(nest.func).name;
        json["stage"] = nest.stage_index;
        json["axis"] = nest.innermost ? "point" : gpu_axis_name(nest.axis);
        const StageNode &stage = graph.stage(nest.stage_id);
        Json loops = Json::array();
        for (size_t i = 0; i < nest.size.size(); i++) {
            loops.push_back({{"var", stage.loops[i].var}, {"extent", nest.size[i]}});
        }
        json["loops"] = loops;
        json["vector_dim"] = nest.vector_dim;
    }
    Json inlined = Json::array();
    for (const InlinedCall &call : nest.inlined) {
        inlined.push_back({{"func", graph.func(call.func).name}, {"calls", call.calls}});
    }
    json["inlined"] = inlined;
    Json children = Json::array();
    for (const LoopNestPtr &child : nest.children) {
        children.push_back(tree_json(*child, graph));
    }
    json["children"] = children;
    return json;
}

Json terms_json(const StageBreakdown &breakdown) {
    Json terms = Json::array();
    for (size_t i = 0; i < kTerms.size(); i++) {
        if (kTerms[i].group != nullptr && breakdown.multipliers[i] != 0) {
            terms.push_back(
                {{"group", kTerms[i].group},
                 {"what", kTerms[i].what},
                 {"coefficient", breakdown.coefficients[i]},
                 {"multiplier", breakdown.multipliers[i]},
                 {"cost_ms",
                  breakdown.coefficients[i] * breakdown.multipliers[i] * kMsPerPicosecond}});
        }
    }
    return terms;
}

Json stages_json(const RunInputs &in, const SearchResult &found) {
    const PlainNetwork network(in.weights, in.algorithm);
    Json json = Json::array();
    const std::vector<int> &order = in.graph.record_order();
    for (size_t position = 0; position < order.size(); position++) {
        const StageNode &stage = in.graph.stage(order[position]);
        const ScheduleFeatures &features = found.features.row(stage.id);
        const StageRow row = narrowed_row(static_cast<int>(position), features);
        Json named;
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            named[schedule_feature_name(i)] = features[i];
        }
        json.push_back({{"name", stage.name},
                        {"func", in.graph.func(stage.func).name},
                        {"stage", stage.index},
                        {"cost_ms", found.stage_costs[position]},
                        {"terms", terms_json(network.evaluate(row))},
                        {"features", named}});
    }
    return json;
}

// How many blocks of a kernel a multiprocessor holds at a time, and what keeps it from more.
struct Residency {
    int64_t blocks = 0;
    const char *limiter = "blocks";
};

Residency
residency(int64_t warps, int64_t shared_bytes, int64_t registers, const GpuDevice &device) {
    // Registers of a multiprocessor: the same for all devices that Halide knows.
    constexpr int64_t kRegistersPerSm = 65536;
    Residency result{device.max_blocks_per_sm, "blocks"};
    const auto limit = [&](int64_t blocks, const char *what) {
        if (blocks < result.blocks) {
            result = {blocks, what};
        }
    };
    limit(device.max_warps_per_sm / std::max<int64_t>(warps, 1), "threads");
    if (shared_bytes > 0) {
        limit(device.shared_bytes_per_sm / shared_bytes, "shared memory");
    }
    const int64_t per_thread = std::min<int64_t>(registers, device.registers_per_thread);
    limit(kRegistersPerSm / std::max<int64_t>(per_thread * warps * device.warp_size, 1),
          "registers");
    return result;
}

Json kernel_json(const LoopNest &task, const RunInputs &in, const SearchResult &found) {
    const GpuDevice &device = in.device;
    int64_t num_threads = 1;
    Json threads = Json::array();
    for (const int64_t extent : task.union_thread_extents()) {
        if (extent > 1 || threads.empty()) {
            threads.push_back(extent);
            num_threads *= extent;
        }
    }
    const int64_t warps = (num_threads + device.warp_size - 1) / device.warp_size;
    const int64_t shared_bytes = largest_shared_bytes(task, in.graph);
    const int64_t registers = registers_needed(task, in.graph, device);
    const Residency resident = residency(warps, shared_bytes, registers, device);
    const auto blocks = static_cast<int64_t>(found.features.row(task.stage_id).num_blocks);
    Json warnings = Json::array();
    if (registers > device.registers_per_thread) {
        warnings.push_back("More registers needed than a thread gets: values may be spilled to "
                           "slow memory");
    }
    if (num_threads * blocks == 1) {
        warnings.push_back("A single thread does all the work");
    } else if (num_threads < device.warp_size) {
        warnings.push_back("Fewer threads in a block than a warp has lanes");
    }
    if (blocks < device.num_sms) {
        warnings.push_back("Fewer blocks than the GPU has multiprocessors");
    }
    return {{"stage", in.graph.stage(task.stage_id).name},
            {"threads", threads},
            {"blocks", blocks},
            {"shared_bytes", shared_bytes},
            {"registers", registers},
            {"resident_blocks", resident.blocks},
            {"occupancy", static_cast<double>(resident.blocks * warps) / device.max_warps_per_sm},
            {"limiter", resident.limiter},
            {"warnings", warnings}};
}

Json kernels_json(const RunInputs &in, const SearchResult &found) {
    Json json = Json::array();
    for (const LoopNestPtr &task : found.best->children) {
        json.push_back(kernel_json(*task, in, found));
    }
    return json;
}

Json place_json(const FuncPlace &place, const PipelineGraph &graph) {
    Json json = {{"kind", place_kind_name(place.kind)}, {"inside", nullptr}};
    if (place.inside >= 0) {
        json["inside"] = graph.func(place.inside).name;
    }
    return json;
}

Json funcs_json(const RunInputs &in, const SearchResult &found) {
    Json json = Json::array();
    for (const FuncAlternatives &func : found.alternatives) {
        Json places = Json::array(), rejected = Json::object();
        for (const Alternative &a : func.places) {
            places.push_back({{"place", place_json(a.place, in.graph)},
                              {"cost_ms", a.cost},
                              {"chosen", a.chosen}});
        }
        for (const RejectionTally::Line &line : func.rejected.lines()) {
            rejected[line.example.rule] = line.count;
        }
        json.push_back({{"name", in.graph.func(func.func).name},
                        {"place", place_json(place_of(*found.best, func.func), in.graph)},
                        {"places", places},
                        {"rejected", rejected}});
    }
    return json;
}

Json statistics_json(const SearchStats &stats) {
    return {{"states", stats.states_added},
            {"featurizations", stats.featurizations},
            {"rejections", stats.rejections},
            {"passes", stats.passes},
            {"refinements", stats.refinements},
            {"seconds", stats.total_s}};
}

}  // namespace

std::string
run_record(const RunInputs &inputs, const SearchResult &found, const std::string &source) {
    const Json json = {{"format", kRunRecordFormat},
                       {"version", ANDERSON2021_VERSION},
                       {"target", inputs.target},
                       {"options", options_json(inputs.options)},
                       {"device", device_json(inputs.device)},
                       {"cost_ms", found.cost},
                       {"progress", progress_json(found)},
                       {"tree", tree_json(*found.best, inputs.graph)},
                       {"stages", stages_json(inputs, found)},
                       {"kernels", kernels_json(inputs, found)},
                       {"funcs", funcs_json(inputs, found)},
                       {"statistics", statistics_json(found.stats)},
                       {"schedule", source}};
    // Names come from users: whatever is no UTF-8 is replaced.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_run_record(const RunInputs &inputs,
                      const SearchResult &found,
                      const std::string &source) {
    const std::string text = run_record(inputs, found, source);
    const std::string &path = inputs.options.record_path;
    const std::string error = replace_file(path, text.data(), text.size());
    if (!error.empty()) {
        throw UserError("Option autoscheduler.record_path: cannot write " + path + ": " + error);
    }
}

}  // namespace anderson2021
