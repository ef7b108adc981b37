#include <cmath>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unistd.h>

#include "costmodel/plain_cost_model.h"
#include "graph_fixtures.h"
#include "plugin/run_record.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

using Json = nlohmann::json;

class RunRecord : public ::testing::Test {
protected:
    RunRecord()
        : graph_(test::harris_graph(512, 256)), store_(graph_), weights_(Weights::random(7)) {
        options_.parallelism = 80;
        options_.beam_size = 4;
        options_.threads = 1;
        options_.record_path = "/tmp/anderson_record_" + std::to_string(getpid()) + ".json";
        device_.num_sms = 80;
        algorithm_.num_stages = static_cast<int>(graph_.record_order().size());
        algorithm_.num_cores = 80;
        algorithm_.features.resize(static_cast<size_t>(algorithm_.num_stages) * 280);
        const auto model = make_plain_cost_model(weights_);
        model->begin(algorithm_);
        found_ = search(graph_, store_, device_, options_, *model);
    }
    ~RunRecord() override { std::remove(options_.record_path.c_str()); }

    RunInputs inputs() const {
        return {graph_, device_, options_, weights_, algorithm_, "host-cuda"};
    }
    Json record() const {
        return Json::parse(run_record(inputs(), found_, "output.gpu_blocks(x);"));
    }

    PipelineGraph graph_;
    RegionStore store_;
    Weights weights_;
    AlgorithmInputs algorithm_;
    GpuDevice device_;
    Options options_;
    SearchResult found_;
};

TEST_F(RunRecord, SaysWhatTheRunStartedFrom) {
    const Json json = record();
    EXPECT_EQ(json["format"], kRunRecordFormat);
    EXPECT_EQ(json["target"], "host-cuda");
    EXPECT_EQ(json["options"]["beam_size"], 4);
    EXPECT_EQ(json["device"]["multiprocessors"], 80);
    EXPECT_EQ(json["schedule"], "output.gpu_blocks(x);");
    EXPECT_EQ(json["cost_ms"], found_.cost);
    EXPECT_EQ(json["progress"].back()["best_cost_ms"], found_.cost);
}

TEST_F(RunRecord, TakesCostsApart) {
    const Json json = record();
    double total = 0;
    for (const Json &stage : json["stages"]) {
        const double cost = stage["cost_ms"];
        total += cost;
        double sum = 0, magnitude = 0;
        for (const Json &term : stage["terms"]) {
            sum += term["cost_ms"].get<double>();
            magnitude += std::abs(term["cost_ms"].get<double>());
            EXPECT_TRUE(term["group"].is_string() && term["what"].is_string());
        }
        EXPECT_NEAR(sum, cost, 1e-4 * magnitude + 1e-12) << stage["name"];
        EXPECT_EQ(stage["features"].size(), static_cast<size_t>(kNumScheduleFeatures));
    }
    EXPECT_NEAR(total, found_.cost, 1e-9 + 1e-6 * found_.cost);
}

TEST_F(RunRecord, ListsKernelsAndPlaces) {
    const Json json = record();
    ASSERT_EQ(json["kernels"].size(), found_.best->children.size());
    for (const Json &kernel : json["kernels"]) {
        EXPECT_GE(kernel["blocks"], 1);
        EXPECT_GE(kernel["resident_blocks"], 1);
        EXPECT_GT(kernel["occupancy"], 0);
        EXPECT_LE(kernel["occupancy"], 1);
    }
    std::set<std::string> names;
    for (const Json &func : json["funcs"]) {
        names.insert(func["name"].get<std::string>());
        bool chosen = false;
        for (const Json &place : func["places"]) {
            if (place["chosen"]) {
                chosen = true;
                EXPECT_EQ(place["place"], func["place"]);
            }
        }
        EXPECT_TRUE(chosen) << func["name"];
    }
    EXPECT_EQ(names.size(), 12u);
    EXPECT_EQ(json["tree"]["children"].size(), found_.best->children.size());
}

TEST_F(RunRecord, IsWrittenAsAWhole) {
    write_run_record(inputs(), found_, "");
    std::ifstream file(options_.record_path);
    EXPECT_EQ(Json::parse(file)["format"], kRunRecordFormat);
    Options elsewhere = options_;
    elsewhere.record_path = "/nonexistent/folder/record.json";
    const RunInputs in{graph_, device_, elsewhere, weights_, algorithm_, "host-cuda"};
    try {
        write_run_record(in, found_, "");
        FAIL() << "Nothing was thrown";
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("record_path"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("/nonexistent/folder"), std::string::npos);
    }
}

}  // namespace
}  // namespace anderson2021
