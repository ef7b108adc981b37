#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "costmodel/plain_cost_model.h"
#include "graph_fixtures.h"
#include "plugin/options_parser.h"
#include "plugin/report.h"
#include "plugin/top_schedules.h"
#include "schedule/schedule_parser.h"
#include "schedule/schedule_rebuilder.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

std::string content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class TopSchedules : public ::testing::Test {
protected:
    TopSchedules() : graph_(test::mat_mul_graph(256)), store_(graph_) {
        options_.parallelism = 80;
        options_.threads = 1;
        options_.top_k = 3;
        device_.num_sms = 80;
        const auto model = make_plain_cost_model(Weights::random(7));
        AlgorithmInputs inputs;
        inputs.num_stages = static_cast<int>(graph_.record_order().size());
        inputs.num_cores = 80;
        inputs.features.resize(static_cast<size_t>(inputs.num_stages) * 280);
        model->begin(inputs);
        found_ = search(graph_, store_, device_, options_, *model);
        char name[] = "/tmp/anderson_top_XXXXXX";
        folder_ = mkdtemp(name);
    }
    ~TopSchedules() override {
        for (int rank = 0; rank < 4; rank++) {
            for (const char *suffix : {".schedule.h", ".featurization", ".tree", ".cost"}) {
                std::remove((prefix() + "." + std::to_string(rank) + suffix).c_str());
            }
        }
        std::remove(folder_.c_str());
    }
    std::string prefix() const { return folder_ + "/my-blur"; }

    PipelineGraph graph_;
    RegionStore store_;
    GpuDevice device_;
    Options options_;
    SearchResult found_;
    std::string folder_;
};

TEST_F(TopSchedules, FilesDescribeTheSchedules) {
    ASSERT_EQ(found_.top.size(), 3u);
    write_top_schedules(found_, graph_, device_, prefix());
    const LoopNestEditor editor(store_);
    double previous = 0;
    for (size_t rank = 0; rank < 3; rank++) {
        const std::string path = prefix() + "." + std::to_string(rank);
        const LoopNestPtr tree = rebuild_schedule(read_schedule_file(path + ".tree"), editor);
        EXPECT_TRUE(tree->same_structure(*found_.top[rank].tree));
        const double cost = std::stod(content(path + ".cost"));
        EXPECT_NEAR(cost, found_.top[rank].cost, 1e-8 * std::abs(cost));
        EXPECT_GE(cost, previous - 1e-8);
        previous = cost;
        const std::string blob = content(path + ".featurization");
        const std::vector<uint8_t> expected = featurization_blob(graph_, found_.top[rank].features);
        EXPECT_EQ(blob, std::string(expected.begin(), expected.end()));
        const std::string header = content(path + ".schedule.h");
        EXPECT_NE(header.find("inline void apply_schedule_my_blur("), std::string::npos);
        EXPECT_NE(header.find(".gpu_blocks("), std::string::npos);
    }
}

TEST_F(TopSchedules, AFolderThatIsMissingIsTheUsersMistake) {
    try {
        write_top_schedules(found_, graph_, device_, folder_ + "/none/blur");
        FAIL() << "no error";
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("top_k_path"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("none/blur.0."), std::string::npos) << e.what();
    }
}

TEST(TopSchedulesOptions, SeveralSchedulesNeedAPlace) {
    Options options;
    check_top_schedules(options);
    options.top_k = 2;
    EXPECT_THROW(check_top_schedules(options), UserError);
    options.top_k_path = "out/blur";
    check_top_schedules(options);
}

}  // namespace
}  // namespace anderson2021
