// Everything a search needs, for tests: graphs, a cost model with seeded weights, the services that
// the parts of a search share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "costmodel/plain_cost_model.h"
#include "featurizer/featurizer.h"
#include "graph_fixtures.h"
#include "search/partial_matcher.h"
#include "search/pass_settings.h"
#include "search/root_profile.h"
#include "search/search.h"
#include "search/search_context.h"

namespace anderson2021 {
namespace test {

/// A plain cost model with random weights that has begun on `graph`.
std::unique_ptr<CostModel>
make_test_cost_model(const PipelineGraph &graph, int num_cores, uint32_t seed = 7);

/// Options for an 80-core device and two threads.
Options test_options();

/// Runs a search from scratch.
SearchResult run_search(const PipelineGraph &graph, const Options &options, uint32_t seed = 7);

/// A pipeline of 2 to 6 Funcs: pointwise, stencils, transposes, downsampling, reductions.
PipelineGraph random_graph(uint32_t seed);

/// The services of one search, set up as search() does.
class SearchHarness {
public:
    explicit SearchHarness(PipelineGraph graph, const Options &options = test_options());

    SearchStatePtr initial_state() const;
    /// All legal successors of one state, by the steps of the search.
    std::vector<SearchStatePtr> successors(const SearchStatePtr &state);

    const PipelineGraph graph;
    const Options options;
    GpuDevice device;
    RegionStore store;
    LoopNestEditor editor;
    ThreadPool pool;
    Rng rng;
    std::unique_ptr<CostModel> model;
    Featurizer featurizer;
    StateEvaluator evaluator;
    NestInterner interner;
    RootProfiles profiles;
    std::unique_ptr<PartialMatcher> partial;
    SearchStats stats;
    SearchBudget budget;
    PassSettings settings;
    SearchContext context;
};

/// Removes a file at the end of its life.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string &text);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

}  // namespace test
}  // namespace anderson2021
