#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "algorithm/graph_fingerprint.h"
#include "costmodel/plain_cost_model.h"
#include "graph_fixtures.h"
#include "plugin/schedule_cache.h"
#include "schedule/schedule_rebuilder.h"
#include "schedule/schedule_text.h"
#include "search/known_schedule.h"
#include "search/search.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {
namespace {

namespace fs = std::filesystem;

class ScheduleCacheTest : public ::testing::Test {
protected:
    ScheduleCacheTest()
        : graph_(test::mat_mul_graph(256)), store_(graph_), editor_(store_),
          weights_(Weights::random(7)), model_(make_plain_cost_model(weights_)) {
        char name[] = "/tmp/anderson_cache_XXXXXX";
        folder_ = mkdtemp(name);
        options_.cache_dir = folder_ + "/inner";
        options_.threads = 1;
        AlgorithmInputs inputs;
        inputs.num_stages = static_cast<int>(graph_.record_order().size());
        inputs.features.resize(static_cast<size_t>(inputs.num_stages) * 280);
        model_->begin(inputs);
        found_ = search(graph_, store_, device_, options_, *model_);
    }
    ~ScheduleCacheTest() override { fs::remove_all(folder_); }

    ScheduleCache cache(const Options &options) const {
        return ScheduleCache({graph_, "", device_, options, weights_, target_});
    }
    ScheduleCache cache() const { return cache(options_); }
    void store(const std::vector<ReductionParts> &parts = {}) const {
        cache().store(*found_.best, graph_, parts);
    }
    /// Null if there is none.
    LoopNestPtr find(std::vector<ReductionParts> *parts = nullptr) const {
        LoopNestPtr tree;
        const bool known = cache().find([&](const CachedSchedule &cached) {
            check_func_names(cached.schedule, graph_);
            tree = rebuild_schedule(cached.schedule, editor_);
            if (parts != nullptr) {
                *parts = cached.parts;
            }
        });
        return known ? tree : nullptr;
    }

    PipelineGraph graph_;
    RegionStore store_;
    LoopNestEditor editor_;
    GpuDevice device_;
    // Made by mkdtemp, and all that is removed again.
    std::string folder_;
    Options options_;
    std::string target_ = "host-cuda";
    Weights weights_;
    std::unique_ptr<CostModel> model_;
    SearchResult found_;
};

TEST_F(ScheduleCacheTest, GivesBackWhatWasStored) {
    EXPECT_FALSE(find());
    store();
    const LoopNestPtr known = find();
    ASSERT_TRUE(known);
    EXPECT_TRUE(known->same_structure(*found_.best));
    const SearchResult again = evaluate_schedule(known, graph_, store_, device_, options_, *model_);
    EXPECT_EQ(again.cost, found_.cost);
    EXPECT_EQ(again.stage_costs, found_.stage_costs);
}

TEST_F(ScheduleCacheTest, TellsWhatWasSplit) {
    std::vector<ReductionParts> parts;
    store({{"sum", 0, 4096}, {"$odd.name$1", 12, int64_t{1} << 33}});
    const LoopNestPtr known = find(&parts);
    ASSERT_TRUE(known);
    EXPECT_TRUE(known->same_structure(*found_.best));
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].name(), "sum.update(0)");
    EXPECT_EQ(parts[0].parts, 4096);
    EXPECT_EQ(parts[1].name(), "$odd.name$1.update(12)");
    EXPECT_EQ(parts[1].parts, int64_t{1} << 33);
    store();
    find(&parts);
    EXPECT_TRUE(parts.empty());
}

// Whoever uses it may find that it is for another pipeline.
TEST_F(ScheduleCacheTest, IsOfNoUseIfWhoeverUsesItSaysSo) {
    store();
    EXPECT_TRUE(cache().find([](const CachedSchedule &) {}));
    EXPECT_FALSE(cache().find([](const CachedSchedule &) { throw UserError("no"); }));
    EXPECT_FALSE(cache().find([](const CachedSchedule &) { throw InternalError("no"); }));
}

TEST_F(ScheduleCacheTest, IsOffUnlessAskedForAndUseful) {
    Options options = options_;
    EXPECT_TRUE(cache(options).enabled());
    options.cache_dir = "";
    EXPECT_FALSE(cache(options).enabled());
    options = options_;
    options.time_limit_s = 1;
    EXPECT_FALSE(cache(options).enabled());
    options = options_;
    options.record_path = "record.json";
    EXPECT_FALSE(cache(options).enabled());
    options = options_;
    options.by_hand = "decisions.txt";
    EXPECT_FALSE(cache(options).enabled());
    options = options_;
    options.top_k_path = "out/best";
    EXPECT_FALSE(cache(options).enabled());
}

TEST_F(ScheduleCacheTest, FilesUnderAllThatMatters) {
    std::set<std::string> paths{cache().path()};
    Options options = options_;
    options.threads = 3;
    EXPECT_EQ(cache(options).path(), cache().path());
    options.beam_size = 7;
    paths.insert(cache(options).path());
    options = options_;
    options.search_space_options = "0111";
    paths.insert(cache(options).path());
    GpuDevice device;
    device.shared_bytes_per_sm *= 2;
    const PipelineGraph graph = test::mat_mul_graph(512);
    const Weights weights = Weights::random(8);
    for (const CacheKey &key :
         {CacheKey{graph_, "", device, options_, weights_, target_},
          CacheKey{graph_, "", device_, options_, weights, target_},
          CacheKey{graph, "", device_, options_, weights_, target_},
          CacheKey{graph_, "", device_, options_, weights_, "host-opencl"},
          CacheKey{graph_, "sums could be split", device_, options_, weights_, target_}}) {
        paths.insert(ScheduleCache(key).path());
    }
    EXPECT_EQ(paths.size(), 8u);
}

TEST_F(ScheduleCacheTest, FileThatCannotBeUsedCountsAsMissing) {
    store();
    for (const char *text : {"", "prod 3 4 nonsense", "other 8 8 (0, 0) gpu_block\n"}) {
        std::ofstream(cache().path()) << text;
        EXPECT_FALSE(find()) << text;
    }
    store();
    EXPECT_TRUE(find());
}

TEST_F(ScheduleCacheTest, RemovesWhatWasUnusedForLongest) {
    store();
    const fs::path folder = options_.cache_dir;
    std::vector<fs::path> files;
    for (int i = 0; i < 4; i++) {
        files.push_back(folder / ("old" + std::to_string(i) + ".schedule"));
        std::ofstream(files.back()) << std::string(400000, '#');
        fs::last_write_time(files.back(),
                            fs::file_time_type::clock::now() - std::chrono::hours(10 - i));
    }
    std::ofstream(folder / "foreign.txt") << std::string(2000000, '#');
    options_.cache_limit_mb = 1;
    store();
    EXPECT_FALSE(fs::exists(files[0]));
    EXPECT_FALSE(fs::exists(files[1]));
    EXPECT_TRUE(fs::exists(files[2]));
    EXPECT_TRUE(fs::exists(files[3]));
    EXPECT_TRUE(fs::exists(folder / "foreign.txt"));
    EXPECT_TRUE(find());
}

TEST_F(ScheduleCacheTest, EveryDamageIsNoticed) {
    store();
    std::ifstream file(cache().path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_GT(text.size(), 200u);
    const auto is_found = [&](const std::string &changed) {
        std::ofstream(cache().path()) << changed;
        return find() != nullptr;
    };
    for (size_t i = 0; i < text.size(); i++) {
        EXPECT_FALSE(is_found(text.substr(0, i))) << "cut off after " << i << " bytes";
        std::string flipped = text;
        flipped[i] = static_cast<char>(flipped[i] ^ 1);
        EXPECT_FALSE(is_found(flipped)) << "a bit of byte " << i;
    }
    EXPECT_FALSE(is_found(text + text));
    EXPECT_TRUE(is_found(text));
}

TEST_F(ScheduleCacheTest, FolderThatCannotBeWrittenIsAWarning) {
    std::string log;
    set_log_sink([&](const std::string &text) { log += text; });
    options_.cache_dir = "/dev/null/cache";
    store();
    set_log_sink(nullptr);
    EXPECT_EQ(log.find("Warning: "), 0u) << log;
    EXPECT_NE(log.find("cache_dir"), std::string::npos) << log;
    EXPECT_NE(log.find("/dev/null/cache"), std::string::npos) << log;
    EXPECT_FALSE(find());
}

// As threads of one process do.
TEST_F(ScheduleCacheTest, ManyMayStoreAtTheSameTime) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20; i++) {
                store();
            }
        });
    }
    for (int i = 0; i < 50; i++) {
        find();
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(find());
    size_t files = 0;
    for (const auto &entry : fs::directory_iterator(options_.cache_dir)) {
        files += entry.is_regular_file() ? 1 : 0;
    }
    EXPECT_EQ(files, 1u) << "temporary files are left";
}

std::string fingerprint_of(const PipelineGraph &graph) {
    Fingerprint fingerprint;
    add_graph(graph, fingerprint);
    return fingerprint.text();
}

TEST(GraphFingerprint, TellsGraphsApartByEveryField) {
    const PipelineGraph original = test::harris_graph(64, 32);
    std::set<std::string> seen{fingerprint_of(original)};
    EXPECT_EQ(fingerprint_of(test::harris_graph(64, 32)), *seen.begin());
    size_t expected = 1;
    const auto changed = [&](auto change) {
        PipelineGraph graph = test::harris_graph(64, 32);
        change(graph);
        seen.insert(fingerprint_of(graph));
        EXPECT_EQ(seen.size(), ++expected);
    };
    changed([](PipelineGraph &g) { g.funcs[1].name += "x"; });
    changed([](PipelineGraph &g) { g.funcs[1].bytes_per_point++; });
    changed([](PipelineGraph &g) { g.funcs[0].estimate[0].max++; });
    changed([](PipelineGraph &g) { g.funcs[0].estimate[0].exact ^= true; });
    changed([](PipelineGraph &g) { g.funcs[2].is_pointwise ^= true; });
    changed([](PipelineGraph &g) { g.funcs[2].is_trivial_to_inline ^= true; });
    changed([](PipelineGraph &g) { g.funcs[3].stages[0].features[40]++; });
    changed([](PipelineGraph &g) { g.funcs[3].stages[0].reads_input ^= true; });
    changed([](PipelineGraph &g) { g.funcs[3].stages[0].loops[0].pure ^= true; });
    changed([](PipelineGraph &g) { g.edges[0].calls++; });
    changed([](PipelineGraph &g) { g.edges[0].load_jacobians[0].increment_count(); });
    changed([](PipelineGraph &g) { g.edges[0].bounds[0].min.add++; });
    changed([](PipelineGraph &g) { g.edges[0].bounds[0].max.exact ^= true; });
    changed([](PipelineGraph &g) { g.branching.emplace_back(); });
}

}  // namespace
}  // namespace anderson2021
