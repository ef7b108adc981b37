#include "featurizer_fixtures.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "schedule/schedule_parser.h"
#include "schedule/schedule_rebuilder.h"
#include "support/error.h"

namespace anderson2021 {
namespace test {

namespace {

FeaturizerOptions make_options(int parallelism, bool reference_features) {
    FeaturizerOptions options;
    options.parallelism = parallelism;
    options.reference_features = reference_features;
    options.verify_cache = true;
    return options;
}

}  // namespace

FeaturizerFixture::FeaturizerFixture(PipelineGraph graph, int parallelism, bool reference_features)
    : graph_(std::move(graph)), options_(make_options(parallelism, reference_features)),
      store_(graph_), editor_(store_),
      featurizer_(std::make_unique<Featurizer>(graph_, store_, device_, options_)) {}

FeaturizerFixture::~FeaturizerFixture() = default;

LoopNestPtr FeaturizerFixture::tree(const std::string &text) const {
    return rebuild_schedule(parse_schedule(text, "text"), editor_, /*complete=*/false);
}

FeatureMatrix FeaturizerFixture::featurize(const std::string &text) const {
    const Featurization result = featurizer_->featurize(tree(text));
    ANDERSON_CHECK(!result.unpromotable_func)
        << graph_.func(*result.unpromotable_func).name << " does not fit into registers";
    return result.features;
}

int FeaturizerFixture::stage(const std::string &func, int index) const {
    const int f = graph_.find_func(func);
    ANDERSON_CHECK(f >= 0) << "No Func " << func;
    return graph_.func(f).stages.at(static_cast<size_t>(index)).id;
}

FeatureValues parse_values(const std::string &text) {
    FeatureValues values;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        ANDERSON_CHECK(equals != std::string::npos) << "No value in " << word;
        const size_t dash = word.find('-');
        const bool is_range = dash < equals;
        const int first = std::stoi(word);
        const int last = is_range ? std::stoi(word.substr(dash + 1)) : first;
        for (int i = first; i <= last; i++) {
            values.emplace_back(i, std::stod(word.substr(equals + 1)));
        }
    }
    return values;
}

std::string compare_row(const ScheduleFeatures &row,
                        const FeatureValues &values,
                        const std::vector<int> &ignored) {
    ScheduleFeatures expected;
    for (const auto &v : values) {
        expected[v.first] = v.second;
    }
    std::ostringstream message;
    for (int i = 0; i < kNumScheduleFeatures; i++) {
        const bool counts = std::find(ignored.begin(), ignored.end(), i) == ignored.end();
        if (counts && std::abs(row[i] - expected[i]) > 1e-6 * std::abs(expected[i])) {
            message << i << " " << schedule_feature_name(i) << ": " << row[i] << " instead of "
                    << expected[i] << "\n";
        }
    }
    return message.str();
}

int64_t RandomScheduler::below(int64_t n) {
    // A linear congruential generator; its high bits are good enough here.
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(n));
}

std::vector<int64_t> RandomScheduler::random_tile(int func, const std::vector<int64_t> &choices) {
    std::vector<int64_t> tile;
    for (int d = 0; d < graph_.func(func).dims(); d++) {
        tile.push_back(choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))]);
    }
    return tile;
}

// Serial tile, then threads, as the search does it.
LoopNestPtr RandomScheduler::tiled(const LoopNestPtr &nest, const LoopNest &site) {
    if (nest->size.empty()) {
        return nest;
    }
    const SplitOptions options;
    const LoopNestPtr outer =
        editor_.split(*nest, random_tile(nest->func, {1, 1, 2, 4, 8}), site, options);
    if (!site.is_root()) {
        return outer;
    }
    std::vector<int64_t> threads = random_tile(nest->func, {1, 1, 2, 4, 5});
    if (nest->lane_loop >= 0) {
        threads[static_cast<size_t>(nest->vector_dim)] = int64_t{8} << below(4);
    }
    return editor_.split(*outer, threads, site, options);
}

LoopNestPtr RandomScheduler::place_at_root(const LoopNestPtr &root, int func) {
    const int dims = graph_.func(func).dims();
    const int vector_dim = dims == 0 ? 0 : static_cast<int>(below(dims));
    const bool untiled = below(4) == 0;
    std::vector<LoopNestPtr> children = root->children;
    for (const LoopNestPtr &n : editor_.place(func, vector_dim, *root, false)) {
        children.push_back(untiled ? n : tiled(n, *root));
    }
    return editor_.with_children(*root, std::move(children));
}

LoopNestPtr
RandomScheduler::fuse(const LoopNestPtr &nest, int func, int vector_dim, bool in_thread) {
    in_thread = in_thread || nest->axis == GpuAxis::Thread;
    std::vector<size_t> callers;
    for (size_t i = 0; i < nest->children.size(); i++) {
        if (nest->children[i]->calls(func)) {
            callers.push_back(i);
        }
    }
    const bool can_descend = callers.size() == 1 && !nest->children[callers[0]]->innermost;
    std::vector<LoopNestPtr> children = nest->children;
    if (can_descend && below(2) == 0) {
        LoopNestPtr &child = children[callers[0]];
        child = fuse(child, func, vector_dim, in_thread);
    } else {
        for (const LoopNestPtr &n : editor_.place(func, vector_dim, *nest, in_thread)) {
            const bool in_block = n->axis == GpuAxis::Thread;
            // Now and then a level of a block stays without threads.
            const bool serial = in_block && below(5) == 0;
            children.push_back(serial     ? editor_.with_axis(*n, GpuAxis::Serial)
                               : in_block ? tiled(n, *nest)
                                          : n);
        }
    }
    return editor_.with_children(*nest, std::move(children));
}

LoopNestPtr RandomScheduler::decide(const LoopNestPtr &root, const FuncNode &func) {
    const int64_t choice = below(3);
    const bool pure = func.num_stages() == 1;
    if (choice == 0 && pure && !func.is_output) {
        return editor_.inline_func(root, func.id);
    }
    std::vector<size_t> callers;
    for (size_t i = 0; i < root->children.size(); i++) {
        if (root->children[i]->calls(func.id)) {
            callers.push_back(i);
        }
    }
    if (choice == 1 && !func.is_output && callers.size() == 1 &&
        root->children[callers[0]]->axis == GpuAxis::Block) {
        std::vector<LoopNestPtr> children = root->children;
        const int vector_dim = func.dims() == 0 ? 0 : static_cast<int>(below(func.dims()));
        children[callers[0]] = fuse(children[callers[0]], func.id, vector_dim, false);
        return editor_.with_children(*root, std::move(children));
    }
    return place_at_root(root, func.id);
}

std::vector<LoopNestPtr> RandomScheduler::walk(bool leave_gaps) {
    std::vector<LoopNestPtr> trees{editor_.make_root()};
    for (const FuncNode &f : graph_.funcs) {
        if (!f.is_input && !(leave_gaps && below(4) == 0)) {
            trees.push_back(decide(trees.back(), f));
        }
    }
    trees.erase(trees.begin());
    return trees;
}

}  // namespace test
}  // namespace anderson2021
