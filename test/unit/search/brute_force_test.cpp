// Tiny pipelines, all schedules: the search must find the cheapest one. The enumeration uses the
// moves, but none of the search's shortcuts: no profiles, no memory, no beam. Like the search it
// takes schedules that leave lanes or multiprocessors idle only where nothing better is legal.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

#include "schedule/schedule_text.h"
#include "search_fixture.h"
#include "space/compute_at_move.h"
#include "space/idle_lanes.h"
#include "space/inline_move.h"
#include "space/root_tilings.h"
#include "space/vector_dims.h"

namespace anderson2021 {
namespace {

using test::SearchHarness;

class BruteForce {
public:
    explicit BruteForce(SearchHarness &h) : h_(h), everything_(new BitSet(h.graph.num_funcs())) {
        for (int f = 0; f < h.graph.num_funcs(); f++) {
            everything_->insert(f);
        }
    }

    // Cheapest completion of `tree`, from decision `decision` on.
    double best(const LoopNestPtr &tree, int decision) {
        const FuncNode &func = h_.graph.func(std::min(decision / 2, h_.graph.num_funcs() - 1));
        if (decision == 2 * h_.graph.num_funcs()) {
            num_complete++;
            const Evaluation e = h_.evaluator.evaluate_afresh({tree, everything_});
            return e.accepted() ? e.costs->total : std::numeric_limits<double>::infinity();
        }
        double cost = std::numeric_limits<double>::infinity();
        for (const LoopNestPtr &next : decision % 2 == 0 ? placed(tree, func) : tiled(tree, func)) {
            cost = std::min(cost, best(next, decision + 1));
        }
        return cost;
    }

    int64_t num_complete = 0;

private:
    bool is_legal(const LoopNestPtr &tree) {
        return h_.evaluator.evaluate_afresh({tree, everything_}).accepted();
    }

    std::vector<LoopNestPtr> placed(const LoopNestPtr &tree, const FuncNode &func) {
        if (func.is_input) {
            return {tree};
        }
        const ComputeAtMove move(
            h_.editor, h_.device, SpaceOptions::from(h_.options), [&](int f, int dim) {
                return h_.editor.place(f, dim, *h_.editor.make_root(), false);
            });
        const int dim = candidate_vector_dims(*h_.store.root(), func, false)[0];
        std::vector<LoopNestPtr> result, wasteful;
        if (can_inline(func)) {
            result.push_back(h_.editor.inline_func(tree, func.id));
        }
        for (const LoopNestPtr &next : move.propose(tree, func.id, dim)) {
            if (!h_.evaluator.check_structure(*next) && is_legal(next)) {
                const bool good = worst_idle_lane_waste(*next, h_.device) <= 0.5;
                (good ? result : wasteful).push_back(next);
            }
        }
        if (!result.empty() || wasteful.empty()) {
            return result;
        }
        return {*std::min_element(
            wasteful.begin(), wasteful.end(), [&](const LoopNestPtr &a, const LoopNestPtr &b) {
                return worst_idle_lane_waste(*a, h_.device) < worst_idle_lane_waste(*b, h_.device);
            })};
    }

    std::vector<LoopNestPtr> tiled(const LoopNestPtr &tree, const FuncNode &func) {
        std::vector<LoopNestPtr> others, own, result;
        for (const LoopNestPtr &child : tree->children) {
            (child->func == func.id ? own : others).push_back(child);
        }
        if (own.empty() || func.dims() == 0) {
            return {tree};
        }
        int group = -1, ended_group = -1;
        double previous = 0;
        for (const RootTiling &tiling :
             root_tilings(h_.graph, own, static_cast<int>(h_.options.parallelism), h_.device)) {
            const double waste = tiling.idle_core_waste;
            if (tiling.serial_group == ended_group) {
                continue;
            }
            if (tiling.serial_group != group) {
                group = tiling.serial_group;
                previous = 0;
            }
            if (!result.empty() && waste > 1.2 && waste != previous) {
                ended_group = tiling.serial_group;
                continue;
            }
            previous = waste;
            std::vector<LoopNestPtr> children = others;
            for (const LoopNestPtr &nest : build_root_tiling(h_.editor, own, *tree, tiling)) {
                children.push_back(nest);
            }
            const LoopNestPtr next = h_.editor.with_children(*tree, std::move(children));
            if (is_legal(next)) {
                result.push_back(next);
            }
        }
        return result;
    }

    SearchHarness &h_;
    std::shared_ptr<BitSet> everything_;
};

// A beam that nothing falls out of.
Options exhaustive_options() {
    Options options = test::test_options();
    options.beam_size = 1000000;
    return options;
}

void expect_optimal(PipelineGraph graph, int64_t at_least) {
    SearchHarness h(std::move(graph), exhaustive_options());
    BruteForce brute(h);
    const double best = brute.best(h.editor.make_root(), 0);
    EXPECT_GE(brute.num_complete, at_least);
    const SearchResult found = test::run_search(h.graph, h.options);
    // Everything was seen, so one pass is enough.
    EXPECT_EQ(found.stats.passes, 1);
    EXPECT_EQ(found.cost, best) << print_schedule(*found.best, h.graph);
}

TEST(BruteForce, OneStencil) {
    test::GraphBuilder b;
    b.func("h", {"x"}).output({4096}).reads("g", {test::at("x", -1, 1)}, 3);
    b.func("g", {"x"});
    expect_optimal(b.build(), 100);
}

TEST(BruteForce, TwoStencils) {
    test::GraphBuilder b;
    b.func("h", {"x"}).output({2048}).reads("g", {test::at("x", -1, 1)}, 3);
    b.func("g", {"x"}).reads("f", {test::at("x", -2, 2)}, 5);
    b.func("f", {"x"});
    expect_optimal(b.build(), 300);
}

TEST(BruteForce, SmallMatrixMultiplication) {
    expect_optimal(test::mat_mul_graph(256), 30);
}

TEST(BruteForce, Transpose) {
    test::GraphBuilder b;
    b.func("h", {"x", "y"}).output({512, 512}).reads("g", {test::at("y"), test::at("x")});
    b.func("g", {"x", "y"}).reads("in", {test::at("x"), test::at("y")});
    b.func("in", {"_0", "_1"}).input();
    expect_optimal(b.build(), 20);
}

TEST(BruteForce, NarrowBeamsComeClose) {
    test::GraphBuilder b;
    b.func("h", {"x"}).output({2048}).reads("g", {test::at("x", -1, 1)}, 3);
    b.func("g", {"x"}).reads("f", {test::at("x", -2, 2)}, 5);
    b.func("f", {"x"});
    const PipelineGraph graph = b.build();
    const double best = test::run_search(graph, exhaustive_options()).cost;
    const double beam = test::run_search(graph, test::test_options()).cost;
    EXPECT_GE(beam, best);
    EXPECT_LE(beam, 1.2 * best);
}

}  // namespace
}  // namespace anderson2021
