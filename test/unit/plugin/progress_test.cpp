// The progress bar's text, and what becomes of a host's callback.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "anderson2021/progress.h"
#include "plugin/progress_bar.h"
#include "plugin/progress_callback.h"
#include "plugin/search_monitor.h"
#include "support/error.h"

namespace anderson2021 {
namespace {

SearchStatus half_way() {
    SearchStatus status;
    status.pass = 2;
    status.passes = 6;
    status.fraction = 0.5;
    status.best_cost = 1.23456;
    status.states = 12345;
    status.elapsed_s = 3.2;
    status.eta_s = 65;
    return status;
}

TEST(ProgressLine, TellsEverything) {
    EXPECT_EQ(progress_line(half_way(), 100),
              "[==============>             ] "
              "50%  pass 2/6  best 1.235 ms  12345 states  3 s, about 1 min 5 s left");
}

TEST(ProgressLine, FitsIntoAnyTerminal) {
    for (int columns = 0; columns < 200; columns++) {
        EXPECT_LE(progress_line(half_way(), columns).size(), static_cast<size_t>(columns));
    }
    EXPECT_EQ(progress_line(half_way(), 30), "50%  pass 2/6  best 1.235 ms");
    EXPECT_EQ(progress_line(half_way(), 6), "50%");
}

TEST(ProgressLine, KnowsBeginningAndEnd) {
    SearchStatus status;
    std::string line = progress_line(status, 120);
    EXPECT_NE(line.find("[>"), std::string::npos) << line;
    EXPECT_NE(line.find("0%  pass 1/1  no schedule yet  0 states  0 s"), std::string::npos) << line;
    EXPECT_EQ(line.find("left"), std::string::npos) << line;
    status.fraction = 1;
    status.elapsed_s = 7300;
    status.eta_s = 0;
    line = progress_line(status, 120);
    EXPECT_NE(line.find("==] 100%"), std::string::npos) << line;
    EXPECT_NE(line.find("2 h 1 min"), std::string::npos) << line;
    status.fraction = 0.999;
    EXPECT_NE(progress_line(status, 120).find("99%"), std::string::npos);
}

class ProgressCallback : public ::testing::Test {
protected:
    ~ProgressCallback() override { anderson2021_set_progress_callback(nullptr, nullptr); }
};

TEST_F(ProgressCallback, GetsTheStatus) {
    EXPECT_TRUE(call_progress_callback(half_way()));
    anderson2021_progress seen{};
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *progress, void *user) {
            *static_cast<anderson2021_progress *>(user) = *progress;
            return int{ANDERSON2021_CONTINUE};
        },
        &seen);
    EXPECT_TRUE(call_progress_callback(half_way()));
    EXPECT_EQ(seen.pass, 2);
    EXPECT_EQ(seen.passes, 6);
    EXPECT_EQ(seen.fraction, 0.5);
    EXPECT_EQ(seen.best_cost_ms, 1.23456);
    EXPECT_EQ(seen.states, 12345);
    EXPECT_EQ(seen.elapsed_s, 3.2);
    EXPECT_EQ(seen.eta_s, 65);
}

TEST_F(ProgressCallback, DecidesWhatHappens) {
    const auto answer = [](int value) {
        anderson2021_set_progress_callback(
            [](const anderson2021_progress *, void *user) { return *static_cast<int *>(user); },
            &value);
        return call_progress_callback(half_way());
    };
    EXPECT_TRUE(answer(ANDERSON2021_CONTINUE));
    EXPECT_TRUE(answer(17));
    EXPECT_FALSE(answer(ANDERSON2021_STOP));
    EXPECT_THROW(answer(ANDERSON2021_ABORT), UserError);
}

TEST_F(ProgressCallback, ExceptionsBecomeErrorsOfTheUser) {
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *, void *) -> int { throw std::runtime_error("no ink"); },
        nullptr);
    try {
        call_progress_callback(half_way());
        FAIL() << "nothing was thrown";
    } catch (const UserError &e) {
        EXPECT_NE(std::string(e.what()).find("no ink"), std::string::npos) << e.what();
    }
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *, void *) -> int { throw 3; }, nullptr);
    EXPECT_THROW(call_progress_callback(half_way()), UserError);
}

TEST_F(ProgressCallback, MayReplaceItself) {
    static int calls;
    calls = 0;
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *, void *) {
            calls++;
            anderson2021_set_progress_callback(nullptr, nullptr);
            return int{ANDERSON2021_CONTINUE};
        },
        nullptr);
    call_progress_callback(half_way());
    call_progress_callback(half_way());
    EXPECT_EQ(calls, 1);
}

TEST_F(ProgressCallback, IsNeverCalledByTwoThreadsAtATime) {
    struct Counts {
        std::atomic<int> inside{0}, most{0}, calls{0};
    } counts;
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *, void *user) {
            Counts &c = *static_cast<Counts *>(user);
            const int now = ++c.inside;
            c.most = std::max(c.most.load(), now);
            c.calls++;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            c.inside--;
            return int{ANDERSON2021_CONTINUE};
        },
        &counts);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([] {
            for (int i = 0; i < 20; i++) {
                call_progress_callback(half_way());
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(counts.most, 1);
    EXPECT_GT(counts.calls, 0);
}

TEST_F(ProgressCallback, ComesTenTimesPerSecondAtMost) {
    int calls = 0;
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *, void *user) {
            ++*static_cast<int *>(user);
            return int{ANDERSON2021_CONTINUE};
        },
        &calls);
    Options options;
    options.progress = 0;
    SearchMonitor monitor(options);
    SearchStatus status;
    for (int ms = 0; ms < 1000; ms += 3) {
        status.elapsed_s = ms / 1000.0;
        status.fraction = ms / 2000.0;
        EXPECT_TRUE(monitor.report(status));
    }
    EXPECT_EQ(calls, 10);
    // The end is never left out, and that of a search is none.
    status.fraction = 1;
    monitor.report(status);
    EXPECT_EQ(calls, 10);
    monitor.finish(1);
    EXPECT_EQ(calls, 11);
}

// Two trials, a search that is of no use and another one.
TEST_F(ProgressCallback, SeesOneSearchInSeveral) {
    std::vector<anderson2021_progress> seen;
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *progress, void *user) {
            static_cast<std::vector<anderson2021_progress> *>(user)->push_back(*progress);
            return int{ANDERSON2021_CONTINUE};
        },
        &seen);
    Options options;
    options.progress = 0;
    SearchMonitor monitor(options);
    const auto search = [&](int passes, double cost) {
        SearchStatus status;
        status.passes = passes;
        for (int i = 0; i <= 100; i++) {
            status.pass = std::min(passes, 1 + i * passes / 100);
            status.fraction = i / 100.0;
            status.elapsed_s = i / 50.0;
            status.states = i * 10;
            status.best_cost = cost;
            status.eta_s = 2 - status.elapsed_s;
            EXPECT_TRUE(monitor.report(status));
        }
    };
    monitor.plan({2, 1, 5, 0.1});
    monitor.begin_trial();
    search(1, 7);
    monitor.begin_trial();
    search(1, 6);
    const size_t in_trials = seen.size();
    monitor.begin_search();
    search(5, 9);
    monitor.begin_search();
    search(3, 8);
    EXPECT_LT(seen.back().fraction, 1) << "it is not known to be the last one";
    monitor.finish(4);

    ASSERT_GT(in_trials, 20u);
    for (size_t i = 0; i < in_trials; i++) {
        EXPECT_TRUE(std::isinf(seen[i].best_cost_ms));
        EXPECT_LT(seen[i].eta_s, 0);
        EXPECT_EQ(seen[i].passes, 7);
        EXPECT_LE(seen[i].fraction, 0.2);
    }
    EXPECT_EQ(seen[in_trials].best_cost_ms, 9);
    EXPECT_EQ(seen[in_trials].pass, 3);
    EXPECT_EQ(seen[in_trials].passes, 7);
    for (size_t i = 1; i < seen.size(); i++) {
        EXPECT_GE(seen[i].fraction, seen[i - 1].fraction) << i;
        EXPECT_GE(seen[i].pass, seen[i - 1].pass) << i;
        EXPECT_LE(seen[i].pass, seen[i].passes) << i;
        EXPECT_GE(seen[i].states, seen[i - 1].states) << i;
        EXPECT_EQ(seen[i].fraction == 1, i + 1 == seen.size()) << i;
    }
    EXPECT_EQ(seen.back().pass, 10);
    EXPECT_EQ(seen.back().states, 4000);
    EXPECT_EQ(seen.back().best_cost_ms, 4);
    EXPECT_EQ(seen.back().eta_s, 0);
}

TEST_F(ProgressCallback, IsNotAskedAgainOnceItWantsTheEnd) {
    int calls = 0;
    anderson2021_set_progress_callback(
        [](const anderson2021_progress *, void *user) {
            ++*static_cast<int *>(user);
            return int{ANDERSON2021_STOP};
        },
        &calls);
    Options options;
    options.progress = 0;
    SearchMonitor monitor(options);
    monitor.finish(1);
    EXPECT_EQ(calls, 0) << "there was no search";
    EXPECT_FALSE(monitor.report({}));
    monitor.begin_search();
    SearchStatus later;
    later.elapsed_s = 10;
    EXPECT_FALSE(monitor.report(later));
    EXPECT_EQ(calls, 1);
    monitor.finish(1);
    EXPECT_EQ(calls, 2) << "the end is told in any case";
}

}  // namespace
}  // namespace anderson2021
