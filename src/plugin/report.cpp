#include "plugin/report.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "features/feature_io.h"
#include "pruning/register_pressure.h"
#include "schedule/schedule_text.h"
#include "schedule/unknown_sizes.h"
#include "search/search_report.h"
#include "support/error.h"

namespace anderson2021 {

namespace {

std::string fixed6(double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof(buffer), "%.6f", value);
    return buffer;
}

// `f_s0`, with the characters that scripts cannot digest replaced.
std::string stage_label(const PipelineGraph &graph, const StageNode &stage) {
    std::string label = graph.func(stage.func).name + "_s" + std::to_string(stage.index);
    std::replace(label.begin(), label.end(), '$', '_');
    return label;
}

void print_features(std::ostream &out, const SearchResult &result, const PipelineGraph &graph) {
    for (int stage = 0; stage < graph.num_stages(); stage++) {
        if (!result.features.has(stage)) {
            continue;
        }
        out << "Schedule features for " << stage_label(graph, graph.stage(stage)) << "\n";
        const ScheduleFeatures &row = result.features.row(stage);
        for (int i = 0; i < kNumScheduleFeatures; i++) {
            out << "    " << schedule_feature_name(i) << ": " << fixed6(row[i]) << "\n";
        }
    }
}

// Enough digits to tell single-precision numbers apart.
void print_stage_costs(std::ostream &out, const SearchResult &result, const PipelineGraph &graph) {
    for (size_t i = 0; i < result.stage_costs.size(); i++) {
        char value[64];
        std::snprintf(value, sizeof(value), "%.9g", result.stage_costs[i]);
        out << "Predicted cost of " << stage_label(graph, graph.stage(graph.record_order()[i]))
            << " (ms): " << value << "\n";
    }
}

void collect_stages(const LoopNest &nest, const PipelineGraph &graph, std::string *line) {
    for (auto c = nest.children.rbegin(); c != nest.children.rend(); ++c) {
        if ((*c)->func != nest.func) {
            *line += " -> " + stage_label(graph, graph.stage((*c)->stage_id));
        }
        collect_stages(**c, graph, line);
    }
}

void print_compute_locations(std::ostream &out, const LoopNest &root, const PipelineGraph &graph) {
    out << "BEGIN compute locations\n";
    for (auto c = root.children.rbegin(); c != root.children.rend(); ++c) {
        std::string line = stage_label(graph, graph.stage((*c)->stage_id));
        collect_stages(**c, graph, &line);
        out << line << "\n";
    }
    out << "END compute locations\n";
}

// What every kernel needs.
void print_resources(std::ostream &out, const LoopNest &root, const PipelineGraph &graph) {
    const GpuDevice device;
    for (const LoopNestPtr &task : root.children) {
        const int64_t registers = registers_needed(*task, graph, device);
        out << "Registers per thread of " << stage_label(graph, graph.stage(task->stage_id))
            << " (estimate): " << registers
            << (registers > device.registers_per_thread ? ", spill predicted\n" : "\n");
        if (const int64_t bytes = largest_shared_bytes(*task, graph)) {
            out << "Shared memory per block of " << stage_label(graph, graph.stage(task->stage_id))
                << " (before rounding): " << bytes << " bytes\n";
        }
    }
}

}  // namespace

std::string describe_result(const SearchResult &result,
                            const PipelineGraph &graph,
                            bool reference_dialect,
                            const std::string &schedule_source) {
    std::ostringstream out;
    out << "** Optimal schedule:\n";
    print_features(out, result, graph);
    print_stage_costs(out, result, graph);
    out << "State with cost " << fixed6(result.cost) << "\n"
        << "BEGIN Final generated loop nest and schedule:\n"
        << print_schedule(*result.best, graph, reference_dialect) << schedule_source
        << "END Final generated loop nest and schedule:\n";
    print_compute_locations(out, *result.best, graph);
    print_resources(out, *result.best, graph);
    out << print_statistics(result.stats) << "Search signature:\n" << search_signature(result);
    return out.str();
}

std::vector<uint8_t> featurization_blob(const PipelineGraph &graph, const FeatureMatrix &features) {
    std::vector<FeatureRecordView> records;
    for (const int stage : graph.record_order()) {
        ANDERSON_CHECK(features.has(stage)) << graph.stage(stage).name << " has no features";
        records.push_back({features.row(stage).data(), graph.stage(stage).features.data()});
    }
    return write_featurization(records);
}

}  // namespace anderson2021
