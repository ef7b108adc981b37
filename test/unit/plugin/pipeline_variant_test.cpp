// Which pipelines are changed before the search, that the change is what the printed schedule makes
// as well, and that the user's Funcs stay as they are until then.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/apply_trace.h"
#include "costmodel/plain_cost_model.h"
#include "lowering/lower_schedule.h"
#include "plugin/pipeline_variant.h"
#include "schedule/schedule_text.h"
#include "search/search.h"

namespace anderson2021 {
namespace {

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Param;
using Halide::RDom;
using Halide::Tuple;
using Halide::Var;
using Functions = std::vector<Halide::Internal::Function>;

const Halide::Target &target() {
    static const Halide::Target cuda("host-cuda-cuda_capability_70");
    return cuda;
}

/// Stands in for a cost model: the steps of all stages, 1 ms each million.
class StepCounter : public CostModel {
public:
    void begin(const AlgorithmInputs &) override {}
    std::vector<float> predict(const std::vector<StageRow> &rows) override {
        std::vector<float> costs;
        for (const StageRow &row : rows) {
            ScheduleFeatures f;
            for (int i = 0; i < kNumScheduleFeatures; i++) {
                f[i] = row.features[i];
            }
            costs.push_back(static_cast<float>(f.points_computed_total * 1e-6));
        }
        return costs;
    }
};

/// One of the pipelines by its name, with new Funcs each time.
struct Pipeline {
    explicit Pipeline(const std::string &name) {
        in.dim(0).set_estimate(0, 96000);
        size.set_estimate(96000);
        s() = 0;
        define(name);
        if (!output.defined()) {
            finish(s, {});
        }
    }

    void define(const std::string &name) {
        if (name == "sum") {
            s() += in(RDom(0, 96000));
        } else if (name == "sum of unknown length") {
            s() += in(RDom(0, size));
        } else if (name == "sum of rows") {
            RDom r(0, 300, 0, 320);
            s() += in(r.x + r.y * 300);
        } else if (name == "short sum") {
            s() += in(RDom(0, 1000));
        } else if (name == "not associative") {
            s() = s() * 3 + in(RDom(0, 96000));
        } else if (name == "two sums, one of them not associative") {
            s() += in(RDom(0, 96000));
            s() = s() * 3 + in(RDom(0, 95000));
            s() = max(s(), in(RDom(0, 94000)));
        } else if (name == "place of a maximum") {
            RDom r(0, 95001);
            s = Func("best");
            s() = Tuple(-1, -1);
            const Expr later = s()[0] <= in(r);
            s() = Tuple(select(later, in(r), s()[0]), select(later, r, s()[1]));
        } else if (name == "histogram") {
            s = Func("histogram");
            s(x) = 0;
            s(clamp(in(RDom(0, 96000)), 0, 63)) += 1;
            finish(s, {{0, 64}});
        } else if (name == "normalisation") {
            s() = max(s(), in(RDom(0, 96000)));
            Func out("out");
            out(x) = in(x)*100 / s();
            finish(out, {{0, 96000}});
        } else if (name == "many sums") {
            s = Func("sums");
            s(x) = 0;
            s(x) += in(RDom(0, 2000)) * x;
            finish(s, {{0, 256}});
        }
    }

    void finish(const Func &f, const Halide::Region &region) {
        output = f;
        output.set_estimates(region);
    }

    Functions outputs() const { return {output.function()}; }

    ImageParam in{Halide::Int(32), 1, "in"};
    Param<int> size{"size"};
    Var x{"x"};
    Func s{"s"}, output;
};

class PipelineVariants : public testing::Test {
protected:
    PipelineVariants() {
        options_.parallelism = 80;
        options_.beam_size = 1;
        options_.threads = 1;
        device_.num_sms = 80;
    }

    PipelineVariant choose(const Pipeline &p) const {
        return choose_variant(p.outputs(),
                              {options_, device_, target(), [](const PipelineGraph &) {
                                   return std::unique_ptr<CostModel>(new StepCounter());
                               }});
    }

    size_t splits_of(const std::string &name) const {
        return choose(Pipeline(name)).built.graph->splits.size();
    }

    /// Schedules the pipeline; returns the text.
    std::string schedule(const Pipeline &p, bool apply) const {
        const PipelineVariant variant = choose(p);
        const PipelineGraph &graph = *variant.built.graph;
        RegionStore store(graph);
        StepCounter model;
        const SearchResult found = search(graph, store, device_, options_, model);
        const ScheduleTrace trace = lower_schedule(*found.best, graph, device_);
        if (apply) {
            apply_trace(trace, graph, carry_out_variant(variant, p.outputs()));
        }
        return print_trace(trace, graph);
    }

    Options options_;
    GpuDevice device_;
};

TEST_F(PipelineVariants, SplitsLongReductionsOnly) {
    EXPECT_GE(splits_of("sum"), 1u);
    EXPECT_GE(splits_of("sum of unknown length"), 1u);
    EXPECT_GE(splits_of("sum of rows"), 1u);
    EXPECT_GE(splits_of("histogram"), 1u);
    EXPECT_GE(splits_of("normalisation"), 1u);
    EXPECT_GE(splits_of("place of a maximum"), 1u);
    EXPECT_EQ(splits_of("short sum"), 0u);
    EXPECT_EQ(splits_of("many sums"), 0u) << "256 threads";
    EXPECT_EQ(splits_of("not associative"), 0u);
}

TEST_F(PipelineVariants, SplitsEveryUpdateByItself) {
    const PipelineVariant variant = choose(Pipeline("two sums, one of them not associative"));
    std::vector<int> updates;
    for (const ReductionSplit &s : variant.built.graph->splits) {
        if (updates.empty() || updates.back() != s.update) {
            updates.push_back(s.update);
        }
    }
    EXPECT_EQ(updates, (std::vector<int>{0, 2}));
}

TEST_F(PipelineVariants, CanBeSwitchedOff) {
    options_.split_reductions = 0;
    EXPECT_EQ(splits_of("sum"), 0u);
    options_.split_reductions = 1;
    options_.reference_features = 1;
    EXPECT_EQ(splits_of("sum"), 0u);
}

TEST_F(PipelineVariants, LeavesTheUsersFuncsAloneUntilTheEnd) {
    const Pipeline p("sum");
    std::ostringstream before, between;
    before << p.s.update_value(0);
    const PipelineVariant variant = choose(p);
    between << p.s.update_value(0);
    EXPECT_EQ(between.str(), before.str());
    EXPECT_EQ(Halide::Internal::build_environment(p.outputs()).size(), 2u);

    const Functions functions = carry_out_variant(variant, p.outputs());
    ASSERT_EQ(functions.size(), static_cast<size_t>(variant.built.graph->num_funcs()));
    const auto environment = Halide::Internal::build_environment(p.outputs());
    EXPECT_EQ(environment.size(), 2 + variant.built.graph->splits.size());
    for (const auto &f : functions) {
        EXPECT_TRUE(environment.at(f.name()).same_as(f)) << f.name();
    }
}

TEST_F(PipelineVariants, NamesDoNotDependOnWhatWasTriedBefore) {
    const auto names = [&] {
        std::vector<std::string> result;
        const PipelineVariant variant = choose(Pipeline("sum"));
        for (const FuncNode &f : variant.built.graph->funcs) {
            if (f.is_partial_result) {
                EXPECT_TRUE(f.needs_root());
                result.push_back(f.name.substr(f.name.find("_intm")));
            }
        }
        return result;
    };
    EXPECT_EQ(names()[0], "_intm");
    EXPECT_EQ(names(), names());
}

// Without a schedule for the whole pipeline a variant is no choice.
TEST_F(PipelineVariants, FollowsAPartialSchedule) {
    char name[] = "/tmp/anderson_partial_XXXXXX";
    const int file = mkstemp(name);
    ASSERT_GE(file, 0);
    close(file);
    const Pipeline p("sum");
    const PipelineVariant variant = choose(p);
    RegionStore store(*variant.built.graph);
    StepCounter model;
    const SearchResult found = search(*variant.built.graph, store, device_, options_, model);
    std::ofstream(name) << print_schedule(*found.best, *variant.built.graph);
    options_.partial_schedule_path = name;
    EXPECT_EQ(choose(p).built.graph->splits.size(), variant.built.graph->splits.size());
    // Of the pipeline as it is, for which there would be better ones.
    options_.partial_schedule_path.clear();
    options_.split_reductions = 0;
    const PipelineVariant plain = choose(p);
    RegionStore plain_store(*plain.built.graph);
    const SearchResult serial = search(*plain.built.graph, plain_store, device_, options_, model);
    options_.partial_schedule_path = name;
    options_.split_reductions = 1;
    std::ofstream(name) << print_schedule(*serial.best, *plain.built.graph);
    EXPECT_EQ(choose(p).built.graph->splits.size(), 0u);
    std::remove(name);
}

std::string read_file(const std::string &path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Like Halide's own runs of a generator: names do not depend on what was built before.
template<typename Body>
bool in_child_process(const Body &body) {
    const pid_t child = fork();
    if (child == 0) {
        int status = 1;
        try {
            body();
            status = 0;
        } catch (const std::exception &e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
        std::_Exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(PipelineVariants, TextMakesTheSameProgram) {
    const std::vector<std::string> names = {"sum",
                                            "sum of unknown length",
                                            "sum of rows",
                                            "histogram",
                                            "normalisation",
                                            "place of a maximum",
                                            "two sums, one of them not associative"};
    char name[] = "/tmp/anderson_variants_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    const std::string folder = name;
    std::ofstream out(folder + "/schedules.cpp");
    out << "#include \"Halide.h\"\nusing namespace Halide;\n";
    for (size_t i = 0; i < names.size(); i++) {
        // As a generator would: with its own names.
        ASSERT_TRUE(in_child_process(
            [&] { std::ofstream(folder + "/text") << schedule(Pipeline(names[i]), false); }));
        out << "extern \"C\" void replay_" << i << "(Pipeline pipeline) {\n"
            << read_file(folder + "/text") << "}\n";
    }
    out.close();
    const std::string command =
        std::string(ANDERSON_CXX) + " -std=c++17 -O0 -Wall -Werror -shared -fPIC -isystem " +
        ANDERSON_HALIDE_INCLUDE + " -o " + folder + "/schedules.so " + folder + "/schedules.cpp";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_file(folder + "/schedules.cpp");
    void *handle = dlopen((folder + "/schedules.so").c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();

    const auto lowered = [&](const Pipeline &p) {
        Halide::Pipeline(p.output).compile_to_lowered_stmt(
            folder + "/lowered",
            Halide::Pipeline(p.output).infer_arguments(),
            Halide::Text,
            target());
    };
    for (size_t i = 0; i < names.size(); i++) {
        SCOPED_TRACE(names[i]);
        using Replay = void (*)(Halide::Pipeline);
        const auto replay =
            reinterpret_cast<Replay>(dlsym(handle, ("replay_" + std::to_string(i)).c_str()));
        ASSERT_NE(replay, nullptr);
        ASSERT_TRUE(in_child_process([&] {
            const Pipeline p(names[i]);
            schedule(p, true);
            lowered(p);
        }));
        const std::string applied = read_file(folder + "/lowered");
        ASSERT_TRUE(in_child_process([&] {
            const Pipeline p(names[i]);
            schedule(p, false);  // takes names for copies, like the other one
            replay(Halide::Pipeline(p.output));
            lowered(p);
        }));
        EXPECT_GT(applied.size(), 1000u);
        EXPECT_TRUE(applied == read_file(folder + "/lowered"));
    }
    EXPECT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

}  // namespace
}  // namespace anderson2021
