#include "search_fixture.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unistd.h>
#include <utility>

#include "search/evaluation_options.h"
#include "search/placement_step.h"
#include "search/tiling_step.h"

namespace anderson2021 {
namespace test {

namespace {

GpuDevice test_device(const Options &options) {
    GpuDevice device;
    device.num_sms = static_cast<int>(options.parallelism);
    return device;
}

}  // namespace

std::unique_ptr<CostModel>
make_test_cost_model(const PipelineGraph &graph, int num_cores, uint32_t seed) {
    std::unique_ptr<CostModel> model = make_plain_cost_model(Weights::random(seed));
    AlgorithmInputs inputs;
    inputs.num_stages = static_cast<int>(graph.record_order().size());
    inputs.num_cores = num_cores;
    for (const int stage : graph.record_order()) {
        // The network does not see the first 7 counts.
        for (size_t i = 7; i < kNumAlgorithmFeatures; i++) {
            inputs.features.push_back(static_cast<float>(graph.stage(stage).features[i]));
        }
    }
    model->begin(inputs);
    return model;
}

Options test_options() {
    Options options;
    options.parallelism = 80;
    options.threads = 2;
    return options;
}

SearchResult run_search(const PipelineGraph &graph, const Options &options, uint32_t seed) {
    RegionStore store(graph);
    const std::unique_ptr<CostModel> model =
        make_test_cost_model(graph, std::max(1, static_cast<int>(options.parallelism)), seed);
    return search(graph, store, test_device(options), options, *model);
}

PipelineGraph random_graph(uint32_t seed) {
    Rng rng(seed);
    GraphBuilder b;
    const int64_t width = 32 * (1 + rng.below(12)), height = 8 * (1 + rng.below(20));
    const int num_funcs = 2 + static_cast<int>(rng.below(5));
    const std::vector<std::string> xy{"x", "y"};
    const std::vector<Coord> here{at("x"), at("y")};
    b.func("f0", xy).output({width, height});
    for (int i = 1; i <= num_funcs; i++) {
        // The body of the Func before reads this one, and sometimes the next one, too.
        const std::string producer = i == num_funcs ? "in" : "f" + std::to_string(i);
        const uint32_t kind = rng.below(5);
        switch (kind) {
        case 0:
            b.pointwise().reads(producer, here);
            break;
        case 1:
            b.reads(producer, {at("x", -1, 1), at("y", -1, 1)}, 9);
            break;
        case 2:
            b.reads(producer, {at("y"), at("x")});
            break;
        case 3:
            b.reads(producer, {scaled("x", 2), at("y")}, 2);
            break;
        case 4:
            b.update({{"r", 0, 15}}, here).reads(producer, {at("x"), at("r")});
            break;
        }
        if (i + 1 < num_funcs && rng.below(3) == 0) {
            b.reads("f" + std::to_string(i + 1), here);
        }
        if (i < num_funcs) {
            b.func(producer, xy);
        }
    }
    b.func("in", {"_0", "_1"}).input();
    return b.build();
}

SearchHarness::SearchHarness(PipelineGraph g, const Options &o)
    : graph(std::move(g)), options(o), device(test_device(o)), store(graph), editor(store),
      pool(static_cast<int>(o.threads)), rng(o.random_dropout_seed),
      model(make_test_cost_model(graph, static_cast<int>(o.parallelism))),
      featurizer(graph, store, device, featurizer_options(options)),
      evaluator(featurizer, *model, prune_context(graph, device, options), pool),
      interner(editor, pool),
      partial(o.partial_schedule_path.empty()
                  ? nullptr
                  : std::make_unique<PartialMatcher>(read_schedule_file(o.partial_schedule_path),
                                                     graph)),
      budget(options, {}), context{graph,
                                   device,
                                   options,
                                   store,
                                   editor,
                                   evaluator,
                                   pool,
                                   interner,
                                   profiles,
                                   partial.get(),
                                   rng,
                                   stats,
                                   &budget} {
    settings.moves = SpaceOptions::from(options);
}

SearchStatePtr SearchHarness::initial_state() const {
    return make_initial_state(graph, editor.make_root());
}

std::vector<SearchStatePtr> SearchHarness::successors(const SearchStatePtr &state) {
    std::vector<SearchStatePtr> result;
    const auto add =
        [&](LoopNestPtr tree, StateCostsPtr costs, std::shared_ptr<const BitSet> always_inline) {
            auto next = std::make_shared<SearchState>();
            next->parent = state;
            next->tree = std::move(tree);
            next->num_decisions = state->num_decisions + 1;
            next->costs = std::move(costs);
            next->always_inline = std::move(always_inline);
            result.push_back(std::move(next));
        };
    const FuncNode &func = graph.func(next_func(state->num_decisions));
    if (func.is_input) {
        add(state->tree, state->costs, state->always_inline);
    } else if (!next_is_tiling(state->num_decisions)) {
        const Placements found = PlacementStep(context, settings, func.id).run({state})[0];
        for (const Placements::Placed &placed : found.placed) {
            add(placed.tree, placed.costs, found.always_inline);
        }
    } else {
        const Tilings found = TilingStep(context, settings, func.id).run({state})[0];
        if (found.profile() == nullptr) {
            add(state->tree, state->costs, state->always_inline);
        }
        for (size_t i = 0; i < found.size(); i++) {
            const LoopNestPtr tree = found.profile()->tree(editor, *state->tree, found.entry(i));
            add(tree,
                std::make_shared<const StateCosts>(
                    found.profile()->state_costs(context, *state->costs, found.entry(i), tree)),
                state->always_inline);
        }
    }
    return result;
}

TemporaryFile::TemporaryFile(const std::string &text) {
    char name[] = "/tmp/anderson_search_test_XXXXXX";
    const int handle = mkstemp(name);
    if (handle >= 0) {
        close(handle);
    }
    path_ = name;
    std::ofstream(path_) << text;
}

TemporaryFile::~TemporaryFile() {
    std::remove(path_.c_str());
}

}  // namespace test
}  // namespace anderson2021
