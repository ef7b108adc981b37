#include <gtest/gtest.h>
#include <thread>

#include "graph_fixtures.h"
#include "schedule/regions.h"
#include "schedule_fixtures.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using test::at;
using test::divided;
using test::scaled;

/// The output placed at the root and tiled into `serial` points per thread, 32 threads per block.
struct ThreadSetting {
    ThreadSetting(PipelineGraph graph, int64_t serial) : pipeline(std::move(graph)) {
        root = pipeline.place_at_root(pipeline.editor.make_root(), 0);
        root = pipeline.tile_at_root(root, 0, {serial}, {32});
    }

    const LoopNest &thread() const { return *test::find_nest(*root, 0, GpuAxis::Thread); }
    int64_t required(int func) const { return thread().regions->of(func).required(0).extent(); }
    int64_t required_along(const std::vector<int> &chain) const {
        return thread().regions->along_chain(chain).required(0).extent();
    }
    int edge(int consumer, int producer) const {
        for (const Edge &e : pipeline.graph.edges) {
            if (e.consumer_func == consumer && e.producer == producer) {
                return e.id;
            }
        }
        return -1;
    }

    test::Pipeline pipeline;
    LoopNestPtr root;
};

TEST(NestRegions, ThreadOfStencil) {
    const ThreadSetting t(test::stencil_graph(), 1);
    EXPECT_EQ(t.thread().regions->own().loop(0, 0), (Span{512, 512, true, true}));
    EXPECT_EQ(t.required(1), 1);
    EXPECT_EQ(t.required(2), 3);
    EXPECT_EQ(t.thread().regions->of(2).required(0), (Span{511, 513, true, true}));
}

TEST(NestRegions, ThreadUnitesConsumers) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("h", {at("x")}).reads("f", {at("x")});
    b.func("h", {"x"}).reads("g", {at("x")});
    b.func("f", {"x"}).reads("g", {scaled("x", 2)});
    b.func("g", {"x"});
    const ThreadSetting t(b.build(), 2);
    EXPECT_EQ(t.thread().regions->own().loop(0, 0), (Span{512, 513, true, true}));
    EXPECT_EQ(t.thread().regions->of(3).required(0), (Span{512, 1026, true, true}));
    EXPECT_EQ(t.required(3), 515);
    EXPECT_EQ(t.required(2), 2);
}

TEST(NestRegions, InliningChangesNothing) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({1024}).wrapper().reads("h", {at("x")});
    b.func("h", {"x"}).reads("g", {at("x", -1, 1)}, 3);
    b.func("g", {"x"});
    ThreadSetting t(b.build(), 1);
    EXPECT_EQ(t.required(2), 3);
    EXPECT_EQ(t.required(1), 1);
    t.root = t.pipeline.editor.inline_func(t.root, 1);
    EXPECT_EQ(t.required(2), 3);
    EXPECT_EQ(t.required(1), 1);
}

TEST(NestRegions, ChainsLeaveOtherConsumersOut) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("f", {at("x")}).reads("g", {at("x")});
    b.func("f", {"x"}).reads("g", {at("x", -100, 100)}, 2);
    b.func("g", {"x"});
    ThreadSetting t(b.build(), 1);
    for (int inlined = 0; inlined < 2; inlined++) {
        EXPECT_EQ(t.required(2), 201);
        EXPECT_EQ(t.thread().regions->of(2).loop(0, 0).extent(), 201);
        EXPECT_EQ(t.thread().regions->own().loop(0, 0).extent(), 1);
        EXPECT_EQ(t.required(1), 1);
        EXPECT_EQ(t.required_along({t.edge(0, 2)}), 1);
        EXPECT_EQ(t.required_along({t.edge(0, 1), t.edge(1, 2)}), 201);
        t.root = t.pipeline.editor.inline_func(t.root, 1);
    }
}

TEST(NestRegions, ChainMustStartAtTheStage) {
    const ThreadSetting t(test::stencil_graph(), 1);
    EXPECT_THROW(t.required_along({t.edge(1, 2)}), InternalError);
}

TEST(NestRegions, WrappersInARow) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("f", {at("x")}).reads("g", {at("x")});
    b.func("f", {"x"}).reads("g", {at("x")});
    b.func("g", {"x"});
    ThreadSetting t(b.build(), 1);
    EXPECT_EQ(t.required(2), 1);
    EXPECT_EQ(t.required(1), 1);
    t.root = t.pipeline.editor.inline_func(t.root, 1);
    EXPECT_EQ(t.required(2), 1);
}

TEST(NestRegions, RootOfHalvedAccess) {
    test::GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024}).reads("f", {at("x"), divided("y", 2)});
    b.func("f", {"x", "y"});
    const test::Pipeline p(b.build());
    const FuncRegion &f = p.store.root()->of(1);
    EXPECT_EQ(f.required(0).extent(), 1024);
    EXPECT_EQ(f.required(1).extent(), 512);
    EXPECT_TRUE(f.required(0).constant);
    EXPECT_FALSE(f.required(1).constant);
}

TEST(NestRegions, OutputReadByAnotherOutput) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({100}).reads("mid", {at("x", 0, 20)});
    b.func("mid", {"x"}).output_region({{-5, 50, false, false}});
    const test::Pipeline p(b.build());
    EXPECT_EQ(p.store.root()->of(1).required(0), (Span{-5, 119, false, false}));
}

TEST(NestRegions, UpdatesOfOneFuncAreApart) {
    // At a nest of the second update only what that update reads is needed.
    test::GraphBuilder b;
    b.func("out", {"x"}).output({64});
    b.update({{"r", 0, 9}}, {at("x")}).reads("f", {at("x", 0, 50)});
    b.update({{"q", 0, 4}}, {at("x")}).reads("f", {at("x")});
    b.func("f", {"x"});
    const test::Pipeline p(b.build());
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    ASSERT_EQ(root->children.size(), 3u);
    EXPECT_EQ(root->children[0]->stage_index, 2);
    EXPECT_EQ(root->children[0]->regions->of(1).required(0).extent(), 1);
    EXPECT_EQ(root->children[1]->regions->of(1).required(0).extent(), 51);
    EXPECT_THROW(root->children[2]->regions->of(1), InternalError);
}

TEST(RegionStore, EqualLoopsShareRegions) {
    const test::Pipeline p(test::stencil_graph());
    const LoopNestPtr root = p.editor.make_root();
    const LoopNestPtr a = p.place_at_root(root, 0);
    const LoopNestPtr b = p.place_at_root(root, 0);
    EXPECT_EQ(a->children[0]->regions, b->children[0]->regions);
    EXPECT_EQ(a->children[0]->regions, a->children[0]->children[0]->regions);
    EXPECT_NE(p.tile_at_root(a, 0, {4}, {32})->children[0]->regions, a->children[0]->regions);
}

TEST(RegionStore, TrimForgetsWhatNobodyHolds) {
    const test::Pipeline p(test::stencil_graph());
    const LoopNestPtr root = p.place_at_root(p.editor.make_root(), 0);
    std::weak_ptr<const NestRegions> dropped =
        p.tile_at_root(root, 0, {4}, {32})->children[0]->regions;
    const std::weak_ptr<const NestRegions> kept = root->children[0]->regions;
    EXPECT_FALSE(dropped.expired());
    p.store.trim();
    EXPECT_TRUE(dropped.expired());
    EXPECT_FALSE(kept.expired());
}

TEST(RegionStore, ManyThreadsSeeTheSameRegions) {
    const test::Pipeline p(test::harris_graph());
    std::vector<std::vector<const FuncRegion *>> seen(4);
    std::vector<NestRegionsPtr> stored(4);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < seen.size(); t++) {
        threads.emplace_back([&, t] {
            for (int f = p.graph.num_funcs() - 1; f >= 0; f--) {
                seen[t].push_back(&p.store.root()->of(f));
            }
            stored[t] = p.store.at(0, p.store.root()->of(0));
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    for (size_t t = 1; t < seen.size(); t++) {
        EXPECT_EQ(seen[t], seen[0]);
        EXPECT_EQ(stored[t], stored[0]);
    }
}

TEST(NestRegions, BytesGrowWithUse) {
    const test::Pipeline p(test::stencil_graph());
    const size_t before = p.store.root()->bytes();
    p.store.root()->of(2);
    EXPECT_GT(p.store.root()->bytes(), before);
}

}  // namespace
}  // namespace anderson2021
