#include <gtest/gtest.h>
#include <memory>

#include "graph_fixtures.h"
#include "schedule/feature_view.h"
#include "schedule/sites.h"
#include "schedule_fixtures.h"

namespace anderson2021 {
namespace {

using test::at;

class SitesTest : public ::testing::Test {
protected:
    void make(PipelineGraph graph) {
        sites_.reset();
        view_.reset();
        p_ = std::make_unique<test::Pipeline>(std::move(graph));
    }

    /// Sites of the completed tree.
    const Sites &sites(const LoopNestPtr &root, bool reference = false) {
        view_ = make_feature_view(root, p_->editor);
        sites_ = std::make_unique<Sites>(p_->graph, *view_, device_, reference);
        return *sites_;
    }
    const LoopNest *nest(int stage, GpuAxis axis) const {
        return test::find_nest(*view_, stage, axis);
    }
    LoopNestPtr output_tiled(const std::vector<int64_t> &serial,
                             const std::vector<int64_t> &threads) const {
        return p_->tile_at_root(p_->place_at_root(p_->editor.make_root(), 0), 0, serial, threads);
    }

    GpuDevice device_;
    std::unique_ptr<test::Pipeline> p_;
    LoopNestPtr view_;
    std::unique_ptr<Sites> sites_;
};

TEST_F(SitesTest, PlacedInABlockIsShared) {
    make(test::mat_mul_graph());
    const Sites &s = sites(p_->tree(test::kMatMulInBlock));
    const LoopNest *const block = nest(0, GpuAxis::Block);
    EXPECT_EQ(s.of(0).memory, MemoryType::Global);
    EXPECT_EQ(s.of(0).compute, view_.get());
    EXPECT_EQ(s.of(0).produce, block);
    EXPECT_EQ(s.of(0).innermost, nest(0, GpuAxis::Simd));
    EXPECT_EQ(s.of(0).task, block);
    EXPECT_TRUE(s.of(0).is_stored_at_root());
    for (const int stage : {1, 2}) {
        EXPECT_EQ(s.of(stage).memory, MemoryType::Shared);
        EXPECT_EQ(s.of(stage).compute, block);
        EXPECT_EQ(s.of(stage).store, block);
        EXPECT_EQ(s.of(stage).produce, nest(stage, GpuAxis::Thread));
        EXPECT_EQ(s.of(stage).task, block);
        EXPECT_TRUE(s.of(stage).scheduled);
    }
    EXPECT_EQ(s.shared_total(block), 1024);
    EXPECT_FALSE(s.failure());
    EXPECT_EQ(s.of(3).memory, MemoryType::Global) << "inputs";
    EXPECT_EQ(s.of(3).store, view_.get());
    EXPECT_EQ(s.of(3).produce, nullptr);
    EXPECT_FALSE(s.of(3).scheduled);
}

TEST_F(SitesTest, PlacedInAThreadIsInRegisters) {
    make(test::mat_mul_graph());
    const Sites &s = sites(p_->tree(test::kMatMulInThread));
    const LoopNest *const thread = nest(0, GpuAxis::Thread);
    EXPECT_EQ(s.of(1).memory, MemoryType::Registers);
    EXPECT_EQ(s.of(2).memory, MemoryType::Registers);
    EXPECT_EQ(s.of(2).store, thread);
    EXPECT_EQ(s.of(2).compute, thread);
    EXPECT_EQ(s.shared_total(nest(0, GpuAxis::Block)), 0);
}

TEST_F(SitesTest, ReferenceFeaturesMakeEverythingGlobal) {
    make(test::mat_mul_graph());
    for (const char *text : {test::kMatMulInBlock, test::kMatMulInThread}) {
        const Sites &s = sites(p_->tree(text), /*reference=*/true);
        EXPECT_EQ(s.of(2).memory, MemoryType::Global);
        EXPECT_TRUE(s.of(2).is_stored_at_root());
        EXPECT_FALSE(s.of(2).compute->is_root());
        EXPECT_EQ(s.shared_total(nest(0, GpuAxis::Block)), 1024) << "the region of the block";
    }
}

TEST_F(SitesTest, Places) {
    make(test::mat_mul_graph());
    const Sites &s = sites(p_->tree(test::kMatMulInBlock));
    const NestPlace &root = s.place(view_.get());
    EXPECT_EQ(root.parent, nullptr);
    EXPECT_EQ(root.sub_instances, 1);
    const NestPlace &serial = s.place(nest(2, GpuAxis::Serial));
    EXPECT_EQ(serial.parent, nest(2, GpuAxis::Thread));
    EXPECT_EQ(serial.depth, 3);
    EXPECT_EQ(serial.instances, 16 * 256 * 64);
    EXPECT_EQ(serial.sub_instances, int64_t{16 * 256 * 64} * 4096);
}

TEST_F(SitesTest, TooManyRegisters) {
    make(test::mat_mul_graph());
    const Sites &s = sites(p_->tree(R"(
out 16 16 (0, 0) t gpu_block
 out 64 1 (0, 0) t gpu_thread
  prod 1 64 (0, 0) t gpu_serial
   prod 1 1 (0, 0) * gpu_simd
  prod 1024 1 64 (1, 0) t gpu_serial
   prod 1 1 1 (1, 0) * gpu_simd
  out 1 64 (0, 0) t gpu_serial
   out 1 1 (0, 0) * gpu_simd
)"));
    ASSERT_TRUE(s.failure());
    EXPECT_EQ(s.failure()->func, 1);
}

TEST_F(SitesTest, RegistersNeedUnrolledConsumers) {
    // 32 points fit into registers, but a loop of 32 iterations does not unroll.
    make(test::mat_mul_graph());
    const Sites &s = sites(p_->tree(R"(
out 16 32 (0, 0) t gpu_block
 out 64 1 (0, 0) t gpu_thread
  prod 1 32 (0, 0) t gpu_serial
   prod 1 1 (0, 0) * gpu_simd
  prod 1024 1 32 (1, 0) t gpu_serial
   prod 1 1 1 (1, 0) * gpu_simd
  out 1 32 (0, 0) t gpu_serial
   out 1 1 (0, 0) * gpu_simd
)"));
    ASSERT_TRUE(s.failure());
    EXPECT_EQ(s.failure()->func, 1);
}

TEST_F(SitesTest, RegistersNeedKnownIndices) {
    const auto graph = [](const test::Coord &coord) {
        test::GraphBuilder b;
        b.func("out", {"x"}).output({1024}).reads("f", {coord});
        b.func("f", {"x"});
        return b.build();
    };
    const char *const text = R"(
out 8 (0, 0) t gpu_block
 out 32 (0, 0) t gpu_thread
  f %d (0, 0) t gpu_serial
   f 1 (0, 0) * gpu_simd
  out 4 (0, 0) t gpu_serial
   out 1 (0, 0) * gpu_simd
)";
    const auto with_size = [&](const char *size) {
        std::string s = text;
        return s.replace(s.find("%d"), 2, size);
    };
    make(graph(at("x")));
    EXPECT_FALSE(sites(p_->tree(with_size("4"))).failure());
    PipelineGraph unknown = graph(at("x"));
    unknown.edges[0].load_jacobians = {AccessJacobian(1, 1, {Rational::unknown()})};
    make(std::move(unknown));
    EXPECT_TRUE(sites(p_->tree(with_size("4"))).failure());
    // The extent of x/2 is not known.
    make(graph(test::divided("x", 2)));
    EXPECT_TRUE(sites(p_->tree(with_size("2"))).failure());
}

TEST_F(SitesTest, FusedHarris) {
    make(test::harris_graph());
    const Sites &s = sites(p_->tree(test::kHarrisFused));
    const auto site = [&](const char *name) {
        return s.of(p_->graph.func(p_->graph.find_func(name)).stages[0].id);
    };
    EXPECT_FALSE(s.failure());
    EXPECT_EQ(s.shared_total(nest(0, GpuAxis::Block)), 4096 + 4624 + 5184);
    for (const char *shared : {"Syy", "Iy", "gray"}) {
        EXPECT_EQ(site(shared).memory, MemoryType::Shared) << shared;
    }
    for (const char *name : {"Sxx", "Ix"}) {
        EXPECT_EQ(site(name).memory, MemoryType::Registers) << name;
        EXPECT_EQ(site(name).store, nest(0, GpuAxis::Serial)) << name;
    }
    const Site det = site("det");
    EXPECT_TRUE(det.inlined);
    EXPECT_FALSE(det.scheduled);
    EXPECT_EQ(det.memory, MemoryType::Inlined);
    EXPECT_EQ(det.leaves, std::vector<const LoopNest *>{nest(0, GpuAxis::Simd)});
    EXPECT_EQ(det.produce, nest(0, GpuAxis::Simd));
    EXPECT_EQ(det.task, nest(0, GpuAxis::Block));
}

TEST_F(SitesTest, InlinedInSeveralLeaves) {
    make(test::harris_graph());
    LoopNestPtr root = output_tiled({1, 8}, {32, 4});
    root = p_->place_at_root(root, p_->graph.find_func("trace"));
    root = p_->place_at_root(root, p_->graph.find_func("det"));
    root = p_->editor.inline_func(root, p_->graph.find_func("Syy"));
    const Site &syy = sites(root).of(p_->graph.find_func("Syy"));
    EXPECT_EQ(syy.leaves,
              (std::vector<const LoopNest *>{nest(1, GpuAxis::Simd), nest(2, GpuAxis::Simd)}));
    EXPECT_EQ(syy.innermost, nest(2, GpuAxis::Simd)) << "the last leaf";
}

TEST_F(SitesTest, GuessBelowAnUntiledOutput) {
    make(test::mat_mul_graph());
    const Sites &s = sites(p_->place_at_root(p_->editor.make_root(), 0));
    for (const int stage : {1, 2}) {
        EXPECT_EQ(s.of(stage).compute, nest(0, GpuAxis::Thread)) << "serial 1x1 does not shrink";
        EXPECT_EQ(s.of(stage).store, nest(0, GpuAxis::Thread));
        EXPECT_EQ(s.of(stage).memory, MemoryType::Registers);
        EXPECT_EQ(s.of(stage).num_realizations, 1048576);
        EXPECT_EQ(s.of(stage).produce, nullptr);
        EXPECT_FALSE(s.of(stage).scheduled);
    }
}

TEST_F(SitesTest, GuessInTheSerialLevel) {
    make(test::mat_mul_graph());
    const Sites &s = sites(output_tiled({1, 4}, {64, 1}));
    EXPECT_EQ(s.of(2).compute, nest(0, GpuAxis::Serial));
    EXPECT_EQ(s.of(2).memory, MemoryType::Registers);
    EXPECT_EQ(s.of(2).num_realizations, 1048576);
}

TEST_F(SitesTest, GuessInSharedMemory) {
    test::GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024}).reads("b", {at("x"), at("y", -20, 20)}, 41);
    b.func("b", {"x", "y"}).pointwise().reads("A", {at("x"), at("y")});
    b.func("A", {"_0", "_1"}).input();
    make(b.build());
    const Sites &s = sites(output_tiled({1, 4}, {32, 8}));
    const LoopNest *const block = nest(0, GpuAxis::Block);
    EXPECT_EQ(s.of(1).compute, block);
    EXPECT_EQ(s.of(1).store, block);
    EXPECT_EQ(s.of(1).memory, MemoryType::Shared);
    EXPECT_EQ(s.of(1).num_realizations, 1024);
    EXPECT_EQ(s.shared_total(block), 9216);
    EXPECT_EQ(s.of(2).memory, MemoryType::Global);
    EXPECT_TRUE(s.of(2).is_stored_at_root());

    device_.shared_bytes_per_block = 9215;
    const Sites &small = sites(output_tiled({1, 4}, {32, 8}));
    EXPECT_EQ(small.of(1).memory, MemoryType::Global);
    EXPECT_EQ(small.of(1).compute, view_.get());
    EXPECT_EQ(small.of(1).num_realizations, 1);
    EXPECT_EQ(small.shared_total(nest(0, GpuAxis::Block)), 0);
}

TEST_F(SitesTest, GuessesShareTheMemoryOfABlock) {
    // Both need 3 KiB in the block; the later one no longer fits.
    test::GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024});
    b.reads("f", {at("x", 0, 64), at("y")}, 2).reads("g", {at("x", 0, 64), at("y")}, 2);
    b.func("f", {"x", "y"});
    b.func("g", {"x", "y"});
    make(b.build());
    device_.shared_bytes_per_block = 6143;
    const Sites &s = sites(output_tiled({4, 1}, {32, 4}));
    EXPECT_EQ(s.of(1).memory, MemoryType::Shared);
    EXPECT_EQ(s.of(2).memory, MemoryType::Global);
    EXPECT_EQ(s.shared_total(nest(0, GpuAxis::Block)), 192 * 4 * 4);
}

TEST_F(SitesTest, CommonNestIsOneTooHighIfOneConsumerEnclosesTheOther) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({1024}).reads("h", {at("x")}).reads("f", {at("x")});
    b.func("h", {"x"}).reads("f", {at("x", -1, 1)}, 3);
    b.func("f", {"x"});
    make(b.build());
    const Sites &s = sites(output_tiled({1}, {32}));
    EXPECT_EQ(s.of(1).compute, nest(0, GpuAxis::Thread));
    EXPECT_EQ(s.of(2).compute, nest(0, GpuAxis::Block));
    EXPECT_EQ(s.of(2).memory, MemoryType::Shared);
}

TEST_F(SitesTest, ConsumersInDifferentBlocksMeetAtTheRoot) {
    make(test::harris_graph());
    LoopNestPtr root = output_tiled({1, 8}, {32, 4});
    root = p_->place_at_root(root, 1);
    root = p_->place_at_root(root, 2);
    const Sites &s = sites(root);
    EXPECT_TRUE(s.of(3).compute->is_root()) << "Syy is read by trace and det";
    EXPECT_EQ(s.of(3).memory, MemoryType::Global);
    EXPECT_FALSE(s.of(5).compute->is_root()) << "Sxy is read by det alone";
}

TEST_F(SitesTest, OutputsToComeAreGlobal) {
    test::GraphBuilder b;
    b.func("out", {"x"}).output({100}).reads("mid", {at("x")});
    b.func("mid", {"x"}).output({100});
    make(b.build());
    const Sites &s = sites(output_tiled({1}, {32}));
    EXPECT_EQ(s.of(1).compute, view_.get());
    EXPECT_EQ(s.of(1).store, view_.get());
    EXPECT_EQ(s.of(1).memory, MemoryType::Global);
    EXPECT_EQ(s.of(1).num_realizations, 1);
}

TEST_F(SitesTest, SerialLevelOutsideThreadsIsShared) {
    make(test::stencil_graph());
    const Sites &s = sites(p_->tree(R"(
h 32 (0, 0) t gpu_block
 g 32 (0, 0) t gpu_serial
  f 3 (0, 0) t gpu_thread
   f 1 (0, 0) t gpu_serial
    f 1 (0, 0) * gpu_simd
  g 1 (0, 0) * gpu_simd
 h 32 (0, 0) t gpu_thread
  h 1 (0, 0) t gpu_serial
   h 1 (0, 0) * gpu_simd
)"));
    EXPECT_EQ(s.of(2).memory, MemoryType::Shared);
    EXPECT_EQ(s.of(2).store, nest(1, GpuAxis::Serial));
    EXPECT_EQ(s.shared_total(nest(0, GpuAxis::Block)), 32 * 4) << "only what the block stores";
}

}  // namespace
}  // namespace anderson2021
