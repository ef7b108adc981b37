// Which pipelines are changed before the search, that the change is what the printed schedule makes
// as well, and that the user's Funcs stay as they are until then.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <unistd.h>

#include "anderson2021/progress.h"
#include "backend/apply_trace.h"
#include "child_process.h"
#include "costmodel/plain_cost_model.h"
#include "lowering/lower_schedule.h"
#include "plugin/pipeline_variant.h"
#include "plugin/progress_callback.h"
#include "plugin/variant_choice.h"
#include "schedule/schedule_text.h"
#include "search/search.h"
#include "support/error.h"
#include "support/log.h"

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
using test::in_child_process;
using test::read_file;
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

class Variants : public testing::Test {
protected:
    Variants() {
        options_.parallelism = 80;
        options_.beam_size = 1;
        options_.threads = 1;
        options_.progress = 0;
        device_.num_sms = 80;
    }

    VariantPtr choose(const Pipeline &p, SearchMonitor &monitor) const {
        const VariantCriteria criteria{options_, device_, target()};
        PipelineVariants variants(p.outputs(), criteria);
        return choose_variant(
            variants,
            criteria,
            [](const PipelineGraph &) { return std::unique_ptr<CostModel>(new StepCounter()); },
            monitor);
    }
    VariantPtr choose(const Pipeline &p) const {
        SearchMonitor monitor(options_);
        return choose(p, monitor);
    }

    size_t splits_of(const std::string &name) const {
        return choose(Pipeline(name))->built.graph->splits.size();
    }

    /// Schedules the pipeline; returns the text.
    std::string schedule(const Pipeline &p, bool apply) const {
        const VariantPtr variant = choose(p);
        const PipelineGraph &graph = *variant->built.graph;
        RegionStore store(graph);
        StepCounter model;
        const SearchResult found = search(graph, store, device_, options_, model);
        const ScheduleTrace trace = lower_schedule(*found.best, graph, device_);
        if (apply) {
            apply_trace(trace, graph, carry_out_variant(*variant, p.outputs()));
        }
        return print_trace(trace, graph);
    }

    std::string tree_of(const PipelineVariant &variant) const {
        const PipelineGraph &graph = *variant.built.graph;
        RegionStore store(graph);
        StepCounter model;
        return print_schedule(*search(graph, store, device_, options_, model).best, graph);
    }

    Options options_;
    GpuDevice device_;
};

TEST_F(Variants, SplitsLongReductionsOnly) {
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

TEST_F(Variants, SplitsEveryUpdateByItself) {
    const VariantPtr variant = choose(Pipeline("two sums, one of them not associative"));
    std::vector<int> updates;
    for (const ReductionSplit &s : variant->built.graph->splits) {
        if (updates.empty() || updates.back() != s.update) {
            updates.push_back(s.update);
        }
    }
    EXPECT_EQ(updates, (std::vector<int>{0, 2}));
}

TEST_F(Variants, CanBeSwitchedOff) {
    options_.split_reductions = 0;
    EXPECT_EQ(splits_of("sum"), 0u);
    options_.split_reductions = 1;
    options_.reference_features = 1;
    EXPECT_EQ(splits_of("sum"), 0u);
}

TEST_F(Variants, LeavesTheUsersFuncsAloneUntilTheEnd) {
    const Pipeline p("sum");
    std::ostringstream before, between;
    before << p.s.update_value(0);
    const VariantPtr variant = choose(p);
    between << p.s.update_value(0);
    EXPECT_EQ(between.str(), before.str());
    EXPECT_EQ(Halide::Internal::build_environment(p.outputs()).size(), 2u);

    const Functions functions = carry_out_variant(*variant, p.outputs());
    ASSERT_EQ(functions.size(), static_cast<size_t>(variant->built.graph->num_funcs()));
    const auto environment = Halide::Internal::build_environment(p.outputs());
    EXPECT_EQ(environment.size(), 2 + variant->built.graph->splits.size());
    for (const auto &f : functions) {
        EXPECT_TRUE(environment.at(f.name()).same_as(f)) << f.name();
    }
}

TEST_F(Variants, NamesDoNotDependOnWhatWasTriedBefore) {
    const auto names = [&] {
        std::vector<std::string> result;
        const VariantPtr variant = choose(Pipeline("sum"));
        for (const FuncNode &f : variant->built.graph->funcs) {
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
TEST_F(Variants, FollowsAPartialSchedule) {
    char name[] = "/tmp/anderson_partial_XXXXXX";
    const int file = mkstemp(name);
    ASSERT_GE(file, 0);
    close(file);
    const Pipeline p("sum");
    const VariantPtr variant = choose(p);
    RegionStore store(*variant->built.graph);
    StepCounter model;
    const SearchResult found = search(*variant->built.graph, store, device_, options_, model);
    std::ofstream(name) << print_schedule(*found.best, *variant->built.graph);
    options_.partial_schedule_path = name;
    EXPECT_EQ(choose(p)->built.graph->splits.size(), variant->built.graph->splits.size());
    // Of the pipeline as it is, for which there would be better ones.
    options_.partial_schedule_path.clear();
    options_.split_reductions = 0;
    const VariantPtr plain = choose(p);
    RegionStore plain_store(*plain->built.graph);
    const SearchResult serial = search(*plain->built.graph, plain_store, device_, options_, model);
    options_.partial_schedule_path = name;
    options_.split_reductions = 1;
    std::ofstream(name) << print_schedule(*serial.best, *plain->built.graph);
    EXPECT_EQ(choose(p)->built.graph->splits.size(), 0u);
    // Of a split one, the steps of the sum alone, which tell into how many parts it was split.
    const VariantPtr other = PipelineVariants(p.outputs(), {options_, device_, target()}).build(0);
    for (const VariantPtr &wanted : {variant, other}) {
        options_.partial_schedule_path.clear();
        std::istringstream lines(tree_of(*wanted));
        std::ofstream part(name);
        for (std::string line; std::getline(lines, line);) {
            part << (line.find("_intm") == std::string::npos ? line : "#") << "\n";
        }
        part.close();
        options_.partial_schedule_path = name;
        EXPECT_EQ(describe_parts(*choose(p)), describe_parts(*wanted));
    }
    // One that cannot be followed is about the pipeline that it is meant for nevertheless.
    options_.partial_schedule_path.clear();
    const std::string tree = tree_of(*variant);
    options_.partial_schedule_path = name;
    std::ofstream(name) << tree << "inlined: nobody 1\n";
    EXPECT_EQ(describe_parts(*choose(p)), describe_parts(*variant));
    // It says nothing.
    std::ofstream(name) << "";
    EXPECT_EQ(choose(p)->built.graph->splits.size(), variant->built.graph->splits.size());
    std::remove(name);
}

// What the cache does with a variant that won before.
TEST_F(Variants, AreMadeAgainWithoutASearch) {
    for (const char *name : {"sum", "histogram", "place of a maximum", "short sum"}) {
        SCOPED_TRACE(name);
        const Pipeline p(name);
        const VariantPtr variant = choose(p);
        const PipelineVariants variants(p.outputs(), {options_, device_, target()});
        const VariantPtr again = variants.rebuild(variant->parts);
        EXPECT_EQ(tree_of(*again), tree_of(*variant)) << "names included";
        EXPECT_EQ(again->built.graph->splits.size(), variant->built.graph->splits.size());
        EXPECT_EQ(describe_parts(*again), describe_parts(*variant));
    }
}

TEST_F(Variants, OfAnotherPipelineAreRefused) {
    const Pipeline p("sum"), other("not associative");
    const std::vector<ReductionParts> parts = choose(p)->parts;
    ASSERT_EQ(parts.size(), 1u);
    const VariantCriteria criteria{options_, device_, target()};
    EXPECT_THROW(PipelineVariants(other.outputs(), criteria).rebuild(parts), UserError);
    const PipelineVariants variants(p.outputs(), criteria);
    for (const ReductionParts &wrong : {ReductionParts{"nobody", 0, parts[0].parts},
                                        ReductionParts{parts[0].func, 1, parts[0].parts},
                                        ReductionParts{parts[0].func, 0, parts[0].parts + 1},
                                        ReductionParts{parts[0].func, 0, 0},
                                        ReductionParts{parts[0].func, -1, parts[0].parts}}) {
        EXPECT_THROW(variants.rebuild({wrong}), UserError) << wrong.name();
    }
    EXPECT_NO_THROW(variants.rebuild(parts));
}

// Whether it can be split is nothing that the graph tells.
TEST_F(Variants, CountForTheCache) {
    std::set<std::string> seen;
    const std::vector<std::string> names = {"sum", "not associative", "short sum", "histogram"};
    for (const std::string &name : names) {
        const Pipeline p(name);
        seen.insert(PipelineVariants(p.outputs(), {options_, device_, target()}).fingerprint());
    }
    EXPECT_EQ(seen.size(), names.size() - 1) << "two of them have nothing to split";
}

/// Records what a host sees, and answers.
class Host {
public:
    explicit Host(int answer_to_all = ANDERSON2021_CONTINUE) : answer_(answer_to_all) {
        anderson2021_set_progress_callback(
            [](const anderson2021_progress *progress, void *user) {
                static_cast<Host *>(user)->seen.push_back(*progress);
                return static_cast<Host *>(user)->answer_;
            },
            this);
    }
    ~Host() { anderson2021_set_progress_callback(nullptr, nullptr); }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;

    std::vector<anderson2021_progress> seen;

private:
    int answer_;
};

TEST_F(Variants, ReportProgress) {
    Host host;
    SearchMonitor monitor(options_);
    const Pipeline p("sum");
    choose(p, monitor);
    ASSERT_FALSE(host.seen.empty()) << "nothing is reported before the search itself";
    EXPECT_EQ(host.seen[0].pass, 1);
    EXPECT_GT(host.seen[0].passes, 3);
    EXPECT_LT(host.seen[0].fraction, 0.5);
    for (const anderson2021_progress &now : host.seen) {
        EXPECT_TRUE(std::isinf(now.best_cost_ms)) << "no trial's schedule is that of the run";
        EXPECT_LT(now.fraction, 1);
    }
}

TEST_F(Variants, LetTheHostEndTheTrials) {
    Host host(ANDERSON2021_STOP);
    SearchMonitor monitor(options_);
    const Pipeline p("sum");
    EXPECT_TRUE(choose(p, monitor)->parts.empty()) << "the first one is the best so far";
    EXPECT_TRUE(monitor.is_stopped());
    EXPECT_EQ(host.seen.size(), 1u);
}

TEST_F(Variants, LetTheHostGiveUp) {
    Host host(ANDERSON2021_ABORT);
    EXPECT_THROW(choose(Pipeline("sum")), SearchGivenUp);
    EXPECT_EQ(host.seen.size(), 1u);
}

TEST_F(Variants, AreGivenUpForThePipelineAsItIs) {
    const Pipeline p("sum");
    const VariantPtr split = choose(p);
    ASSERT_FALSE(split->parts.empty());
    const VariantPtr as_it_is =
        PipelineVariants(p.outputs(), {options_, device_, target()}).as_it_is();
    std::string log;
    std::vector<VariantPtr> tried;
    const auto failing = [&](size_t failures, auto error) {
        log.clear();
        tried.clear();
        return [&tried, failures, error](const VariantPtr &variant) {
            tried.push_back(variant);
            if (tried.size() <= failures) {
                throw error;
            }
        };
    };
    set_log_sink([&](const std::string &text) { log += text; });
    EXPECT_EQ(schedule_some(split, as_it_is, failing(0, UserError(""))), split);
    EXPECT_EQ(log, "");
    EXPECT_EQ(tried.size(), 1u);

    EXPECT_EQ(schedule_some(split, as_it_is, failing(1, UserError("s_intm is too large"))),
              as_it_is);
    EXPECT_EQ(tried, (std::vector<VariantPtr>{split, as_it_is}));
    for (const std::string &part :
         {std::string("Warning: "), describe_parts(*split), std::string("s_intm is too large")}) {
        EXPECT_NE(log.find(part), std::string::npos) << log;
    }
    EXPECT_EQ(schedule_some(split, as_it_is, failing(1, InternalError("odd"))), as_it_is);
    EXPECT_NE(log.find("odd"), std::string::npos) << log;

    EXPECT_THROW(schedule_some(split, as_it_is, failing(2, UserError("never"))), UserError);
    EXPECT_EQ(tried.size(), 2u);
    EXPECT_THROW(schedule_some(split, as_it_is, failing(1, SearchGivenUp("enough"))),
                 SearchGivenUp);
    EXPECT_EQ(tried.size(), 1u) << "the host wants an error";
    EXPECT_THROW(schedule_some(as_it_is, as_it_is, failing(1, UserError("none"))), UserError);
    EXPECT_EQ(tried.size(), 1u);
    set_log_sink(nullptr);
}

TEST_F(Variants, TextMakesTheSameProgram) {
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
