#include "plugin/hosted_search.h"

#include <iostream>
#include <memory>

#include "plugin/by_hand_chooser.h"

namespace anderson2021 {

SearchResult hosted_search(const PipelineGraph &graph,
                           RegionStore &store,
                           const GpuDevice &device,
                           const Options &options,
                           CostModel &cost_model,
                           SearchMonitor &monitor) {
    monitor.begin_search();
    SearchHooks hooks;
    hooks.progress = [&](const SearchStatus &status) { return monitor.report(status); };
    const ByHandChooser::Terminal terminal{std::cin, std::cerr};
    std::unique_ptr<ByHandChooser> chooser;
    if (!options.by_hand.empty()) {
        chooser = std::make_unique<ByHandChooser>(read_transcript(options, graph),
                                                  may_ask(options) ? &terminal : nullptr);
        hooks.chooser = chooser.get();
    }
    return search(graph, store, device, options, cost_model, hooks);
}

}  // namespace anderson2021
