// Which pipelines are changed before the search, that the change is what the printed schedule makes
// as well, and that the user's Funcs stay as they are until then.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <unistd.h>

#include "child_process.h"
#include "support/error.h"
#include "variant_fixtures.h"

namespace anderson2021 {
namespace {

using test::in_child_process;
using test::read_file;
using test::ReductionPipeline;
using test::StepCounter;
using test::target;
using test::Variants;
using Functions = std::vector<Halide::Internal::Function>;

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
    const VariantPtr variant = choose(ReductionPipeline("two sums, one of them not associative"));
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
    const ReductionPipeline p("sum");
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
        const VariantPtr variant = choose(ReductionPipeline("sum"));
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
    const ReductionPipeline p("sum");
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
        const ReductionPipeline p(name);
        const VariantPtr variant = choose(p);
        const PipelineVariants variants(p.outputs(), {options_, device_, target()});
        const VariantPtr again = variants.rebuild(variant->parts);
        EXPECT_EQ(tree_of(*again), tree_of(*variant)) << "names included";
        EXPECT_EQ(again->built.graph->splits.size(), variant->built.graph->splits.size());
        EXPECT_EQ(describe_parts(*again), describe_parts(*variant));
    }
}

TEST_F(Variants, OfAnotherPipelineAreRefused) {
    const ReductionPipeline p("sum"), other("not associative");
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
        const ReductionPipeline p(name);
        seen.insert(PipelineVariants(p.outputs(), {options_, device_, target()}).fingerprint());
    }
    EXPECT_EQ(seen.size(), names.size() - 1) << "two of them have nothing to split";
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
        ASSERT_TRUE(in_child_process([&] {
            std::ofstream(folder + "/text") << schedule(ReductionPipeline(names[i]), false);
        }));
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

    const auto lowered = [&](const ReductionPipeline &p) {
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
            const ReductionPipeline p(names[i]);
            schedule(p, true);
            lowered(p);
        }));
        const std::string applied = read_file(folder + "/lowered");
        ASSERT_TRUE(in_child_process([&] {
            const ReductionPipeline p(names[i]);
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
