#include "search/search_report.h"

#include <algorithm>
#include <sstream>

#include "schedule/schedule_text.h"
#include "search/depth_hash.h"

namespace anderson2021 {

namespace {

int64_t whole_ms(double ms) {
    return static_cast<int64_t>(ms);
}

double average(double total_ms, int64_t count) {
    return count == 0 ? 0 : static_cast<double>(whole_ms(total_ms)) / static_cast<double>(count);
}

}  // namespace

std::string print_statistics(const SearchStats &stats) {
    std::ostringstream out;
    const double all_cost_ms = stats.enqueue_ms + stats.cost_model_ms;
    out << "Number of states added: " << stats.states_added << "\n"
        << "Number of featurizations computed: " << stats.featurizations << "\n"
        << "Number of memoization hits: " << stats.memoization_hits << "\n"
        << "Number of memoization misses: " << stats.memoization_misses << "\n"
        << "Number of block memoization hits: " << stats.block_memoization_hits << "\n"
        << "Number of block memoization misses: " << stats.block_memoization_misses << "\n"
        << "Total featurization time (ms): " << whole_ms(stats.featurization_ms) << "\n"
        << "Average featurization time (ms): "
        << average(stats.featurization_ms, stats.featurizations) << "\n"
        << "Total enqueue time (ms): " << whole_ms(stats.enqueue_ms) << "\n"
        << "Total calculate cost time (ms): " << whole_ms(stats.filter_thread_tiles_ms) << "\n"
        << "Total feature write time (ms): " << whole_ms(stats.feature_write_ms) << "\n"
        << "Total generate children time (ms): " << whole_ms(stats.generate_children_ms) << "\n"
        << "Total compute in tiles time (ms): " << whole_ms(stats.compute_in_tiles_ms) << "\n"
        << "Total filter thread tiles time (ms): " << whole_ms(stats.filter_thread_tiles_ms) << "\n"
        << "Total filter parallel tiles time (ms): " << whole_ms(stats.filter_parallel_tiles_ms)
        << "\n"
        << "Number of schedules evaluated by cost model: " << stats.schedules_evaluated << "\n"
        << "Number of tilings generated: " << stats.tilings_generated << "\n"
        << "Number of tilings accepted: " << stats.tilings_accepted << "\n"
        << "Total cost model evaluation time (ms): " << whole_ms(all_cost_ms) << "\n"
        << "Average cost model evaluation time (ms): "
        << average(all_cost_ms, stats.schedules_evaluated) << "\n"
        << "Time taken for autoscheduler (s): " << stats.total_s << "\n";
    return out.str();
}

std::string search_signature(const SearchResult &result) {
    const SearchStats &stats = result.stats;
    std::ostringstream out;
    out << "Candidates: " << stats.states_added << "\n"
        << "Passes: " << stats.passes << "\n"
        << "Refinements: " << stats.refinements << "\n"
        << "Schedules featurized: " << stats.featurizations << "\n";
    std::vector<std::string> lines;
    for (const RejectionTally::Line &line : stats.rejections_by_rule.lines()) {
        lines.push_back(std::string("Rejected by ") + line.example.rule + ": " +
                        std::to_string(line.count) + "\n");
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string &line : lines) {
        out << line;
    }
    out << "Hash of the winner: " << full_hash(*result.best) << "\n";
    return out.str();
}

std::string
print_pass_result(int number, double cost, const LoopNest &root, const PipelineGraph &graph) {
    std::ostringstream out;
    out << "Pass " << number << " result: State with cost " << cost << ":\n"
        << print_schedule(root, graph);
    return out.str();
}

std::string print_search_space(const Options &options) {
    std::ostringstream out;
    out << "Search space options:\n"
        << "  compute root: " << options.allow_compute_root() << "\n"
        << "  inline: " << options.allow_inline() << "\n"
        << "  compute at block: " << options.allow_compute_at_block() << "\n"
        << "  compute at thread: " << options.allow_compute_at_thread();
    return out.str();
}

}  // namespace anderson2021
