// The printed text of a schedule, compiled and called, must give the same program as the schedule
// that was applied.
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>

#include "backend/apply_trace.h"
#include "child_process.h"
#include "frontend/graph_builder.h"
#include "lowering/lower_schedule.h"
#include "pipeline_runner.h"
#include "random_schedule.h"

namespace anderson2021 {
namespace test {
namespace {

/// A random schedule of a test pipeline, and its text.
struct Case {
    std::string pipeline;
    int seed = 0;
    std::string text;
};

/// Builds the pipeline and schedules it. Same names in every process that starts from the same
/// state.
TestPipeline make_case(const Case &c, bool apply, std::string *text) {
    TestPipeline p = make_test_pipeline(c.pipeline);
    const BuiltGraph built = build_graph(p.output_functions(), device_target());
    RegionStore store(*built.graph);
    const LoopNestEditor editor(store);
    Rng rng(c.seed);
    const LoopNestPtr root = random_schedule(editor, rng);
    const ScheduleTrace trace = lower_schedule(*root, *built.graph, GpuDevice());
    *text = print_trace(trace, *built.graph);
    if (apply) {
        apply_trace(trace, *built.graph, built.functions);
    }
    return p;
}

void write_lowered(const TestPipeline &p, const std::string &path) {
    p.pipeline().compile_to_lowered_stmt(
        path, p.pipeline().infer_arguments(), Halide::Text, device_target());
}

class Replay : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/anderson_replay_XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory_ = name;
        for (const TestPipelineFactory &f : test_pipelines()) {
            for (int seed = 0; seed < 2; seed++) {
                cases_.push_back({f.name, seed, ""});
            }
        }
    }

    void TearDown() override {
        const std::string command = "rm -r " + directory_;
        EXPECT_EQ(std::system(command.c_str()), 0);
    }

    /// The texts as functions apply_schedule_<index>, wrapped as Halide does.
    void write_source(const std::string &path) const {
        std::ofstream out(path);
        out << "#include \"Halide.h\"\n";
        for (size_t i = 0; i < cases_.size(); i++) {
            out << "\nextern \"C\" void apply_schedule_" << i
                << "(::Halide::Pipeline pipeline, ::Halide::Target target) {\n"
                << "    using ::Halide::Func;\n    using ::Halide::MemoryType;\n"
                << "    using ::Halide::RVar;\n    using ::Halide::TailStrategy;\n"
                << "    using ::Halide::Var;\n    (void)target;\n"
                << cases_[i].text << "}\n";
        }
    }

    std::string directory_;
    std::vector<Case> cases_;
};

TEST_F(Replay, GivesTheSameProgram) {
    for (Case &c : cases_) {
        make_case(c, false, &c.text);
    }
    write_source(directory_ + "/schedules.cpp");
    const std::string library = directory_ + "/schedules.so";
    const std::string command =
        std::string(ANDERSON_CXX) + " -std=c++17 -O0 -Wall -Werror -shared" + " -fPIC -isystem " +
        ANDERSON_HALIDE_INCLUDE + " -o " + library + " " + directory_ + "/schedules.cpp";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_file(directory_ + "/schedules.cpp");
    void *handle = dlopen(library.c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();

    for (size_t i = 0; i < cases_.size(); i++) {
        const Case &c = cases_[i];
        SCOPED_TRACE(c.pipeline + " seed " + std::to_string(c.seed) + "\n" + c.text);
        const std::string symbol = "apply_schedule_" + std::to_string(i);
        using ApplySchedule = void (*)(Halide::Pipeline, Halide::Target);
        const auto replay = reinterpret_cast<ApplySchedule>(dlsym(handle, symbol.c_str()));
        ASSERT_NE(replay, nullptr);
        std::string text;
        EXPECT_TRUE(in_child_process(
            [&] { write_lowered(make_case(c, true, &text), directory_ + "/applied"); }));
        EXPECT_TRUE(in_child_process([&] {
            const TestPipeline p = make_case(c, false, &text);
            replay(p.pipeline(), device_target());
            write_lowered(p, directory_ + "/replayed");
        }));
        const std::string applied = read_file(directory_ + "/applied");
        EXPECT_GT(applied.size(), 1000u);
        EXPECT_TRUE(applied == read_file(directory_ + "/replayed"));
    }
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
