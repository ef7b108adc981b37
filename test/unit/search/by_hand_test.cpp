// Searches whose decisions are taken by somebody else.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/nest_verifier.h"
#include "schedule/schedule_text.h"
#include "search/chooser.h"
#include "search/search.h"
#include "search_fixture.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

// Answers with a function and remembers what it was asked.
class TestChooser : public Chooser {
public:
    using Rule = std::function<Answer(const Decision &)>;
    explicit TestChooser(Rule rule) : rule_(std::move(rule)) {}

    Answer choose(const Decision &decision) override {
        asked.push_back(decision.name);
        decision.schedule();
        std::set<std::string> texts;
        for (size_t i = 0; i < decision.choices.size(); i++) {
            EXPECT_TRUE(texts.insert(decision.choices[i].text).second)
                << decision.name << " has twice: " << decision.choices[i].text;
            EXPECT_FALSE(decision.choices[i].text.empty());
            if (i > 0) {
                EXPECT_GE(decision.choices[i].cost, decision.choices[i - 1].cost);
            }
        }
        EXPECT_GE(decision.choices.size(), 2u);
        EXPECT_EQ(decision.can_go_back, asked.size() > 1 || took_back);
        EXPECT_LE(decision.func_number, decision.num_funcs);
        const Answer answer = rule_(decision);
        if (answer.kind == Answer::Kind::Take) {
            texts_taken[decision.name] = decision.choices[answer.choice].text;
        }
        return answer;
    }
    bool take_back(const std::string &func, const std::string &) override {
        stuck.push_back(func);
        return false;
    }
    void done(double cost) override { cost_done = cost; }

    std::vector<std::string> asked, stuck;
    std::map<std::string, std::string> texts_taken;
    double cost_done = -1;
    bool took_back = false;

private:
    Rule rule_;
};

SearchResult search_by(const PipelineGraph &graph, const Options &options, Chooser &chooser) {
    RegionStore store(graph);
    GpuDevice device;
    device.num_sms = static_cast<int>(options.parallelism);
    const auto model = test::make_test_cost_model(graph, device.num_sms);
    SearchHooks hooks;
    hooks.chooser = &chooser;
    return search(graph, store, device, options, *model, hooks);
}

Answer cheapest(const Decision &) {
    return {};
}

// Index of the first choice that begins like that.
size_t find(const Decision &decision, const std::string &text) {
    for (size_t i = 0; i < decision.choices.size(); i++) {
        if (decision.choices[i].text.compare(0, text.size(), text) == 0) {
            return i;
        }
    }
    ADD_FAILURE() << decision.name << " has no choice " << text;
    return 0;
}

TEST(ByHand, AlwaysTheCheapestIsTheGreedySearch) {
    for (uint32_t seed = 0; seed < 8; seed++) {
        const PipelineGraph graph = test::random_graph(seed);
        Options options = test::test_options();
        TestChooser chooser(cheapest);
        const SearchResult result = search_by(graph, options, chooser);
        options.beam_size = 1;
        const SearchResult greedy = test::run_search(graph, options);
        EXPECT_EQ(print_schedule(*result.best, graph), print_schedule(*greedy.best, graph));
        EXPECT_EQ(result.cost, greedy.cost);
        EXPECT_EQ(chooser.cost_done, result.cost);
    }
}

TEST(ByHand, WhateverIsChosenIsLegalAndCostsWhatItSays) {
    for (uint32_t seed = 0; seed < 12; seed++) {
        const PipelineGraph graph = test::random_graph(seed);
        Rng rng(seed);
        double last = 0;
        TestChooser chooser([&](const Decision &decision) {
            const auto n = rng.below(static_cast<uint32_t>(decision.choices.size()));
            last = decision.choices[n].cost;
            return Answer{Answer::Kind::Take, n};
        });
        const SearchResult result = search_by(graph, test::test_options(), chooser);
        const auto fault = verify_schedule(*result.best, graph, GpuDevice());
        EXPECT_FALSE(fault) << *fault;
        EXPECT_EQ(chooser.cost_done, result.cost);
        if (!chooser.asked.empty() && chooser.asked.back().find(" tiles") != std::string::npos) {
            EXPECT_EQ(last, result.cost);
        }
    }
}

TEST(ByHand, TheSameTextsGiveTheSameSchedule) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Rng rng(5);
    TestChooser first([&](const Decision &decision) {
        return Answer{Answer::Kind::Take,
                      rng.below(static_cast<uint32_t>(decision.choices.size()))};
    });
    const SearchResult result = search_by(graph, test::test_options(), first);
    TestChooser second([&](const Decision &decision) {
        const std::string &wanted = first.texts_taken.at(decision.name);
        for (size_t i = 0; i < decision.choices.size(); i++) {
            if (decision.choices[i].text == wanted) {
                return Answer{Answer::Kind::Take, i};
            }
        }
        ADD_FAILURE() << decision.name << ": " << wanted;
        return Answer{};
    });
    const SearchResult again = search_by(graph, test::test_options(), second);
    EXPECT_EQ(second.asked, first.asked);
    EXPECT_TRUE(again.best->same_structure(*result.best));
}

TEST(ByHand, ChoicesSayWhereTheFuncGoes) {
    const PipelineGraph graph = test::mat_mul_graph();
    TestChooser chooser([](const Decision &decision) {
        Answer answer;
        if (decision.name == "prod") {
            answer.choice = find(decision, "in the blocks of out: ");
        }
        return answer;
    });
    const SearchResult result = search_by(graph, test::test_options(), chooser);
    const int prod = graph.find_func("prod"), out = graph.find_func("out");
    EXPECT_EQ(place_of(*result.best, prod), (FuncPlace{FuncPlace::Kind::Block, out}));
    const std::string tiles = chooser.texts_taken.at("out tiles");
    EXPECT_EQ(tiles.compare(0, 6, "block "), 0) << tiles;
    EXPECT_NE(tiles.find(", thread "), std::string::npos) << tiles;
    // Both stages of it.
    const std::string place = chooser.texts_taken.at("prod");
    EXPECT_NE(place.find("; update 1 thread "), std::string::npos) << place;
}

TEST(ByHand, BackAsksTheQuestionBeforeAgain) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    int step = 0;
    TestChooser *self = nullptr;
    TestChooser chooser([&](const Decision &) {
        step++;
        Answer answer;
        answer.choice = step == 2 ? 1 : 0;  // regretted
        if (step == 3) {
            answer.kind = Answer::Kind::Back;
            self->took_back = true;
        }
        return answer;
    });
    self = &chooser;
    const SearchResult result = search_by(graph, test::test_options(), chooser);
    ASSERT_GT(chooser.asked.size(), 4u);
    EXPECT_EQ(chooser.asked[3], chooser.asked[1]);
    Options options = test::test_options();
    options.beam_size = 1;
    EXPECT_EQ(result.cost, test::run_search(graph, options).cost);
}

TEST(ByHand, AutomaticLeavesTheRestToABeamSearch) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    Options options = test::test_options();
    TestChooser at_once([](const Decision &) { return Answer{Answer::Kind::Automatic, 0}; });
    const SearchResult result = search_by(graph, options, at_once);
    EXPECT_EQ(at_once.asked.size(), 1u);
    EXPECT_EQ(at_once.cost_done, result.cost);
    options.num_passes = 1;
    const SearchResult one_pass = test::run_search(graph, options);
    EXPECT_EQ(print_schedule(*result.best, graph), print_schedule(*one_pass.best, graph));

    // What was decided before stays.
    TestChooser later([&](const Decision &decision) {
        if (decision.name.find(" tiles") == std::string::npos) {
            return Answer{Answer::Kind::Automatic, 0};
        }
        return Answer{Answer::Kind::Take, decision.choices.size() - 1};
    });
    const SearchResult odd = search_by(graph, options, later);
    ASSERT_EQ(later.texts_taken.size(), 1u);
    EXPECT_GT(odd.cost, result.cost);
}

TEST(ByHand, KeepsToAPartialSchedule) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    const test::TemporaryFile file("inlined: gray 9\n");
    Options options = test::test_options();
    options.partial_schedule_path = file.path();
    TestChooser chooser([](const Decision &decision) {
        EXPECT_NE(decision.name, "gray");
        return Answer{Answer::Kind::Take, decision.choices.size() - 1};
    });
    const SearchResult result = search_by(graph, options, chooser);
    EXPECT_EQ(place_of(*result.best, graph.find_func("gray")).kind, FuncPlace::Kind::Inlined);
}

TEST(ByHand, ExceptionsOfTheChooserLeaveTheSearch) {
    const PipelineGraph graph = test::harris_graph(256, 128);
    TestChooser chooser([](const Decision &) -> Answer { throw UserError("no more"); });
    EXPECT_THROW(search_by(graph, test::test_options(), chooser), UserError);
}

TEST(ByHand, DeadEndsAreReported) {
    const PipelineGraph graph = test::mat_mul_graph();
    Options options = test::test_options();
    options.search_space_options = "0010";  // inlining only, which prod does not allow
    TestChooser chooser(cheapest);
    EXPECT_THROW(search_by(graph, options, chooser), UserError);
}

}  // namespace
}  // namespace anderson2021
