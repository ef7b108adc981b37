// Properties that hold for every schedule: random ones, partial and complete.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

#include "featurizer/featurizer.h"
#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

/// A pyramid with strides other than 1, tuples, an update with a reduction and a scalar.
PipelineGraph mixed_graph() {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({512, 384}, false);
    b.reads("up", {at("x"), at("y")}).reads("sum", {at("y"), at("x", 0, 2)}, 3).reads("s", {});
    b.func("up", {"x", "y"}).reads("down", {divided("x", 2), divided("y", 2)});
    b.func("down", {"x", "y"}).reads("base", {scaled("x", 2), scaled("y", 2)});
    b.reads("base", {scaled("x", 2), at("y")});
    b.func("sum", {"x", "y"}).update({{"r", 0, 15}}, {at("x"), at("y")});
    b.reads("base", {at("x"), at("r")}).reads("weights", {at("r")});
    b.func("base", {"x", "y"}).bytes_per_point(8).reads("in", {at("x", -1, 1), at("y")}, 3);
    b.func("weights", {"i"}).bytes_per_point(2).reads("in", {at("i"), constant(0, 0)});
    b.func("s", {}).update({{"r2", 0, 99}}, {}).reads("in", {at("r2"), at("r2")});
    b.func("in", {"_0", "_1"}).input();
    return b.build();
}

PipelineGraph two_outputs_graph() {
    GraphBuilder b;
    b.func("second", {"x"}).output({4096}).reads("g", {at("x", 0, 1)}, 2).reads("k", {at("x")});
    b.func("first", {"x"}).output({4096}).reads("g", {at("x", -3, 0)}, 4).reads("h", {at("x")});
    b.func("h", {"x"}).reads("k", {at("x")}).reads("g", {at("x")});
    b.func("k", {"x"}).reads("g", {at("x", 0, 7)}, 8);
    b.func("g", {"x"}).reads("in", {at("x")});
    b.func("in", {"_0"}).input();
    return b.build();
}

std::vector<PipelineGraph> all_graphs() {
    std::vector<PipelineGraph> graphs;
    graphs.push_back(mat_mul_graph(256));
    graphs.push_back(harris_graph(500, 300));
    graphs.push_back(histogram_graph());
    graphs.push_back(scalar_reduction_graph());
    graphs.push_back(mixed_graph());
    graphs.push_back(two_outputs_graph());
    return graphs;
}

std::vector<LoopNestPtr>
random_trees(const LoopNestEditor &editor, uint64_t walks, bool leave_gaps = false) {
    std::vector<LoopNestPtr> trees;
    for (uint64_t seed = 1; seed <= walks; seed++) {
        for (const LoopNestPtr &t : RandomScheduler(editor, seed).walk(leave_gaps)) {
            trees.push_back(t);
        }
    }
    return trees;
}

bool same_bits(const Featurization &a, const Featurization &b) {
    if (a.unpromotable_func || b.unpromotable_func) {
        return a.unpromotable_func.has_value() == b.unpromotable_func.has_value();
    }
    for (int s = 0; s < a.features.num_stages(); s++) {
        if (a.features.has(s) != b.features.has(s) ||
            std::memcmp(&a.features.row(s), &b.features.row(s), sizeof(ScheduleFeatures)) != 0) {
            return false;
        }
    }
    return true;
}

class RandomSchedules : public testing::TestWithParam<bool> {};

TEST_P(RandomSchedules, CacheNeverChangesANumber) {
    for (PipelineGraph &graph : all_graphs()) {
        FeaturizerFixture fixture(std::move(graph), 80, GetParam());
        FeaturizerOptions plain = fixture.options();
        plain.verify_cache = false;
        const Featurizer cached(fixture.graph(), fixture.store(), fixture.device(), plain);
        int rejected = 0;
        std::vector<LoopNestPtr> trees = random_trees(fixture.editor(), 40);
        for (const LoopNestPtr &tree : random_trees(fixture.editor(), 20, /*leave_gaps=*/true)) {
            trees.push_back(tree);
        }
        for (const LoopNestPtr &tree : trees) {
            const Featurizer fresh(fixture.graph(), fixture.store(), fixture.device(), plain);
            const Featurization expected = fresh.featurize(tree);
            rejected += expected.unpromotable_func ? 1 : 0;
            // Throws on any difference between known and recomputed blocks.
            EXPECT_TRUE(same_bits(fixture.featurizer().featurize(tree), expected));
            EXPECT_TRUE(same_bits(cached.featurize(tree), expected));
            EXPECT_TRUE(same_bits(cached.featurize(tree), expected));
        }
        EXPECT_GT(cached.stats().cache_hits, cached.stats().cache_misses);
        if (GetParam()) {
            EXPECT_EQ(rejected, 0);
        }
    }
}

TEST_P(RandomSchedules, ThreadsShareTheCache) {
    FeaturizerFixture fixture(harris_graph(), 80, GetParam());
    const std::vector<LoopNestPtr> trees = random_trees(fixture.editor(), 20);
    std::vector<Featurization> expected;
    for (const LoopNestPtr &t : trees) {
        const Featurizer fresh(
            fixture.graph(), fixture.store(), fixture.device(), fixture.options());
        expected.push_back(fresh.featurize(t));
    }
    const Featurizer &shared = fixture.featurizer();
    std::vector<std::thread> threads;
    std::vector<int> differences(4);
    for (size_t t = 0; t < differences.size(); t++) {
        threads.emplace_back([&, t] {
            for (size_t i = 0; i < trees.size(); i++) {
                // Every thread starts somewhere else.
                const size_t k = (i + t * trees.size() / 4) % trees.size();
                differences[t] += same_bits(shared.featurize(trees[k]), expected[k]) ? 0 : 1;
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(differences, std::vector<int>(4));
    EXPECT_EQ(shared.stats().featurizations, static_cast<int64_t>(4 * trees.size()));
}

TEST_P(RandomSchedules, EveryNumberIsFiniteAndSensible) {
    for (PipelineGraph &graph : all_graphs()) {
        FeaturizerFixture fixture(std::move(graph), 80, GetParam());
        for (const LoopNestPtr &tree : random_trees(fixture.editor(), 40)) {
            const Featurization result = fixture.featurizer().featurize(tree);
            for (int s = 0; s < result.features.num_stages(); s++) {
                const int func = fixture.graph().stage(s).func;
                EXPECT_EQ(result.features.has(s),
                          !result.unpromotable_func && tree->computes(func));
                if (!result.features.has(s)) {
                    continue;
                }
                const ScheduleFeatures &row = result.features.row(s);
                for (int i = 0; i < kNumScheduleFeatures; i++) {
                    EXPECT_TRUE(std::isfinite(row[i]) && row[i] >= 0)
                        << schedule_feature_name(i) << " " << row[i];
                }
                // Fractions.
                for (const int i : {52, 53, 57, 62, 63, 64, 65, 67, 68, 69, 70}) {
                    EXPECT_LE(row[i], 1) << schedule_feature_name(i);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(BothStoreSets,
                         RandomSchedules,
                         testing::Bool(),
                         [](const testing::TestParamInfo<bool> &sets) {
                             return sets.param ? "Reference" : "AsTrained";
                         });

/// The same graph with points of twice the size.
PipelineGraph with_doubled_points(PipelineGraph graph) {
    for (FuncNode &f : graph.funcs) {
        f.bytes_per_point *= 2;
    }
    return graph;
}

bool is_complete(const PipelineGraph &graph, const LoopNest &root) {
    bool complete = true;
    for (const FuncNode &f : graph.funcs) {
        complete = complete && (f.is_input || root.computes(f.id));
    }
    for (const LoopNestPtr &c : root.children) {
        complete = complete && c->axis == GpuAxis::Block;
    }
    return complete;
}

// Guesses for Funcs that are not placed depend on memory limits, so only complete trees qualify.
TEST(FeaturizerMetamorphic, DoubledPointsDoubleTheBytes) {
    const std::vector<int> bytes{12, 13, 14, 15, 16, 17, 19, 20, 21, 25, 26, 27, 31, 32, 33,
                                 34, 36, 37, 38, 39, 40, 41, 42, 44, 46, 47, 48, 49, 66};
    const std::vector<int> unchanged{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 18, 22, 23, 24,
                                     28, 29, 30, 35, 45, 50, 51, 52, 53, 54, 57, 69, 70, 71, 72};
    FeaturizerFixture once(harris_graph(500, 300));
    FeaturizerFixture twice(with_doubled_points(harris_graph(500, 300)));
    int compared = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const auto trees = RandomScheduler(once.editor(), seed).walk();
        const auto same_trees = RandomScheduler(twice.editor(), seed).walk();
        if (!is_complete(once.graph(), *trees.back())) {
            continue;
        }
        const Featurization a = once.featurizer().featurize(trees.back());
        const Featurization b = twice.featurizer().featurize(same_trees.back());
        if (a.unpromotable_func || b.unpromotable_func) {
            continue;
        }
        compared++;
        for (int s = 0; s < once.graph().num_stages(); s++) {
            if (!a.features.has(s)) {
                continue;
            }
            for (const int i : bytes) {
                EXPECT_EQ(b.features.row(s)[i], 2 * a.features.row(s)[i])
                    << schedule_feature_name(i);
            }
            for (const int i : unchanged) {
                EXPECT_EQ(b.features.row(s)[i], a.features.row(s)[i]) << schedule_feature_name(i);
            }
        }
    }
    EXPECT_GT(compared, 3);
}

// The search relies on this: it tiles a Func at the root before anything is fused into it, and
// reuses what the other Funcs cost.
TEST(FeaturizerMetamorphic, TilingARootFuncChangesOnlyItsOwnRowsAndRootTotals) {
    for (PipelineGraph &graph : all_graphs()) {
        FeaturizerFixture fixture(std::move(graph));
        const LoopNestEditor &editor = fixture.editor();
        for (const LoopNestPtr &tree : random_trees(editor, 20)) {
            const LoopNestPtr &last = tree->children.back();
            if (last->axis != GpuAxis::None || last->size.empty() ||
                !last->children[0]->inlined.empty()) {
                continue;
            }
            const size_t dims = static_cast<size_t>(fixture.graph().func(last->func).dims());
            std::vector<LoopNestPtr> children = tree->children;
            const LoopNestPtr outer =
                editor.split(*last, std::vector<int64_t>(dims, 2), *tree, SplitOptions());
            children.back() =
                editor.split(*outer, std::vector<int64_t>(dims, 8), *tree, SplitOptions());
            const Featurization before = fixture.featurizer().featurize(tree);
            const Featurization after =
                fixture.featurizer().featurize(editor.with_children(*tree, children));
            if (before.unpromotable_func) {
                continue;
            }
            for (int s = 0; s < fixture.graph().num_stages(); s++) {
                if (!before.features.has(s) || s == last->stage_id) {
                    continue;
                }
                for (int i = 0; i < kNumScheduleFeatures; i++) {
                    if (i < 47 || i > 49) {
                        EXPECT_EQ(before.features.row(s)[i], after.features.row(s)[i])
                            << schedule_feature_name(i);
                    }
                }
            }
        }
    }
}

/// Some nest computes a Func other than that of the nest around it, the root excepted.
bool fuses(const LoopNest &nest) {
    return std::any_of(nest.children.begin(), nest.children.end(), [&](const LoopNestPtr &c) {
        return (!nest.is_root() && c->func != nest.func) || fuses(*c);
    });
}

// The two kinds of store sets differ in nothing but Funcs that are computed inside others.
TEST(FeaturizerMetamorphic, StoreSetsMatterOnlyForFusedFuncs) {
    for (const PipelineGraph &graph : all_graphs()) {
        const FeaturizerFixture as_trained(graph, 80, false);
        const FeaturizerFixture reference(graph, 80, true);
        int same = 0;
        int different = 0;
        for (uint64_t seed = 1; seed <= 150; seed++) {
            // Every third walk passes over some Funcs, so that guesses are made in any order.
            const bool leave_gaps = seed % 3 == 0;
            const auto trees = RandomScheduler(as_trained.editor(), seed).walk(leave_gaps);
            const auto copies = RandomScheduler(reference.editor(), seed).walk(leave_gaps);
            for (size_t i = 0; i < trees.size(); i++) {
                const Featurization a = as_trained.featurizer().featurize(trees[i]);
                const Featurization b = reference.featurizer().featurize(copies[i]);
                if (fuses(*trees[i])) {
                    different += same_bits(a, b) ? 0 : 1;
                } else {
                    EXPECT_FALSE(a.unpromotable_func.has_value());
                    EXPECT_TRUE(same_bits(a, b)) << "seed " << seed << ", tree " << i;
                    same++;
                }
            }
        }
        EXPECT_GT(same, 100);
        // Fused Funcs do matter, unless there is nothing that could be fused.
        EXPECT_GT(different, 10);
    }
}

TEST(Featurizer, EmptyTreeHasNoRows) {
    const FeaturizerFixture fixture(mat_mul_graph());
    const Featurization result = fixture.featurizer().featurize(fixture.editor().make_root());
    EXPECT_FALSE(result.unpromotable_func);
    for (int s = 0; s < result.features.num_stages(); s++) {
        EXPECT_FALSE(result.features.has(s));
    }
}

TEST(Featurizer, CountsHitsAndMisses) {
    const FeaturizerFixture fixture(mat_mul_graph());
    const LoopNestPtr tree = RandomScheduler(fixture.editor(), 1).walk().back();
    const auto blocks = static_cast<int64_t>(tree->children.size());
    fixture.featurizer().featurize(tree);
    EXPECT_EQ(fixture.featurizer().stats().cache_misses, blocks);
    EXPECT_EQ(fixture.featurizer().stats().cache_hits, 0);
    fixture.featurizer().featurize(tree);
    EXPECT_EQ(fixture.featurizer().stats().cache_misses, blocks);
    EXPECT_EQ(fixture.featurizer().stats().cache_hits, blocks);
    EXPECT_EQ(fixture.featurizer().stats().featurizations, 2);
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
